import fc from 'fast-check'
import { expect } from 'vitest'
import { atRandom, chanceOf } from './chance.ts'
import { expectSame } from './everywhere.ts'
import { Log } from './log.ts'
import { type Node, nodes, numberNodes, programOf, type Variant } from './random-program.ts'
import { type Account, goOn, type Lived, live, type Procedure, recover, replay, Trial } from './trial.ts'

/** A program, and all that chance decides about its run. */
export interface Case {
  readonly root: Node
  readonly sameNames: boolean
  readonly seed: number
}

export interface Law {
  /** Whether programs may have branches that resume in the same turn; see `Sorts`. */
  readonly shared: boolean
  check(given: Case): Promise<unknown>
}

/** Tries a law on so many programs; a failure prints its seed and the smallest program that breaks it. */
export function uphold({ shared, check }: Law, numRuns: number): Promise<void> {
  const cases = fc.record({ root: nodes({ shared }), sameNames: fc.boolean(), seed: fc.integer() })
  return fc.assert(
    fc.asyncProperty(cases, async (given) => void (await check(given))),
    { numRuns },
  )
}

/** Checks the replay at once, the replay without events that settle nothing, and the replay after a crash at one event. */
export async function checkReplay({ root, sameNames, seed }: Case): Promise<Lived> {
  const procedure = programOf(root, { sameNames })
  const chance = chanceOf(seed)
  const lived = await live(procedure, atRandom(chance))
  const { trial, log } = lived
  expectEnded(trial)
  expectSame((await replay(procedure, log.events)).account, trial.account)
  const compacted = log.events.filter(({ type }) => type !== 'attempted')
  expectSame((await replay(procedure, compacted)).account, trial.account)
  await checkRecovery(procedure, lived, Math.floor(chance() * log.events.length))
  return lived
}

/** Checks the same with a crash behind every event. */
export const everyPrefix: Law = {
  shared: true,
  async check(given) {
    const lived = await checkReplay(given)
    for (const { seq } of lived.log.events) await checkRecovery(programOf(given.root, given), lived, seq)
  },
}

function expectEnded({ decision }: Trial): void {
  if (decision?.state !== 'completed') expect(decision?.state).toBe('failed')
}

async function checkRecovery(procedure: Procedure, { trial, log, waits }: Lived, seq: number): Promise<void> {
  const recovered = await recover(procedure, log.events, seq)
  expectSame(recovered.trial.account, trial.account)
  if (waits.has(seq)) expectSame(recovered.wait, waits.get(seq))
}

/** Checks that hops between a settlement and its awaiting code, different for each operation, change nothing. */
export const hopsBehind: Law = {
  shared: true,
  async check(given) {
    const { trial, log } = await live(programOf(given.root, given), atRandom(chanceOf(given.seed)))
    const chance = chanceOf(~given.seed)
    const hops = Array.from({ length: 100 }, () => Math.floor(chance() * 8))
    const hopsAfter = (operation: number) => hops[operation % hops.length] as number
    const wrapped = programOf(given.root, { ...given, hopsAfter })
    expectSame((await replay(wrapped, log.events)).account, trial.account)
  },
}

/** One to three awaits somewhere in a program whose names differ: old logs replay, and are continued for good. */
export const oneMoreAwait: Law = {
  shared: false,
  async check({ root, seed }) {
    const chance = chanceOf(seed)
    const before = programOf(root)
    const { trial, log } = await live(before, atRandom(chance))
    const after = programOf(root, chooseEdit(root, chance))
    expectSame(withoutOrder((await replay(after, log.events)).account), withoutOrder(trial.account))

    const taken = new Log(log.events.slice(0, 1 + Math.floor(chance() * log.events.length)))
    const continued = await goOn(new Trial(after), taken, atRandom(chance))
    expectEnded(continued.trial)
    for (const code of [after, before])
      expectSame(
        withoutOrder((await replay(code, taken.events)).account),
        withoutOrder(continued.trial.account),
      )
  },
}

function chooseEdit(root: Node, chance: () => number): Variant {
  const edited = Math.floor(chance() * numberNodes(root))
  const hops = 1 + Math.floor(chance() * 3)
  return { hopsBefore: (node) => (node === edited ? hops : 0) }
}

/** What an edit may not change: all but the positions within a turn, and the order in which they are listed. */
function withoutOrder({ issued, notes, outcome }: Account): unknown {
  const [result, left = ''] = outcome.split('; left ')
  return {
    issued: issued.map((line) => line.slice(line.indexOf(' '))).sort(),
    notes,
    result,
    left: left.split(',').sort(),
  }
}
