import fc from 'fast-check'
import { expect } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import { Branches, type Marks, readMarks } from '../../../src/worker/run/branches.ts'
import { Log } from '../../kernel/support/log.ts'
import { describePending, type Ops, Trial, turnLoop } from '../../kernel/support/trial.ts'

// Random programs that are changed in the middle of a life. `ctx.version` is the branch of a run as the worker chooses it.

/** What a control leaves out. Each of them has to break a law. */
export interface Control {
  readonly without?: 'fresh' | 'withholding'
  /** At the end of the log a run is on the last branch, although it may have been there before. */
  readonly endIsNew?: boolean
  /** A mark takes a position, as an operation does. */
  readonly marksWithPositions?: boolean
}

type Version = (change: string) => number
type Code = (ops: Ops, version: Version) => unknown

interface Node {
  readonly changed: boolean
  readonly parallel: number
  readonly inLoop: boolean
}

/** `old` is the code before the change, `both` offers both branches, and `new` has lost the old one. */
type Era = 'old' | 'both' | 'new'

function write(nodes: readonly Node[], era: Era): Code {
  return async (ops, version) => {
    for (const [index, { changed, parallel, inLoop }] of nodes.entries())
      await Promise.all(
        Array.from({ length: parallel }, async (_, nth) => {
          const name = `${index}.${nth}`
          await ops.step(`in ${name}`)
          if (!changed) return
          const change = inLoop ? 'all' : `change ${index}`
          const branch = era === 'old' ? 1 : era === 'new' ? 2 : version(change)
          if (branch === 1) return void (await ops.step(`old ${name}`))
          await ops.step(`new ${name}`)
          await ops.sleep(`more ${name}`)
        }),
      )
  }
}

/** A loaded run. */
class Life {
  readonly trial: Trial
  readonly branches: Branches
  readonly control: Control
  isFresh = false
  isLastPage = false

  constructor(code: Code, marks: Marks | undefined, control: Control) {
    this.branches = new Branches(marks)
    this.control = control
    this.trial = new Trial((ops) => code(ops, (change) => this.#choose(ops, change)))
  }

  #choose(ops: Ops, change: string): number {
    const isFresh = this.isFresh && this.control.without !== 'fresh'
    const isFirst = !this.branches.marks.has(change)
    const isEnd = this.control.endIsNew === true && this.isLastPage && this.trial.execution.outstanding === 0
    const branch = this.branches.choose(change, [1, 2], isFresh || isEnd)
    if (this.control.marksWithPositions && isFirst && branch === 2) void ops.step(`mark ${change}`)
    return branch
  }
}

/** Reads a log page by page, as a worker does after a crash. */
async function load(
  code: Code,
  events: readonly LogEvent[],
  pageSize: number,
  control: Control = {},
): Promise<Life> {
  const pages: LogEvent[][] = []
  for (let from = 0; from < events.length; from += pageSize) pages.push(events.slice(from, from + pageSize))
  const log = {
    head: events.length,
    async *pages() {
      yield* pages
    },
  }
  return (
    (await replay(code, pages, undefined, control)) ??
    ((await replay(code, pages, await readMarks(log), control)) as Life)
  )
}

async function replay(
  code: Code,
  pages: readonly (readonly LogEvent[])[],
  marks: Marks | undefined,
  control: Control,
): Promise<Life | null> {
  const life = new Life(code, marks, control)
  const isNew = pages.length === 1 && pages[0]?.length === 1
  for (const [index, page] of pages.entries()) {
    if (!life.branches.learn(page)) return null
    life.isLastPage = index === pages.length - 1
    // Its first turn has never been run.
    life.isFresh = isNew
    await life.trial.deliver(page, !life.isLastPage)
    life.isFresh = false
  }
  return life
}

interface Lived {
  readonly life: Life
  /** What was pending, and could have begun, when the log had that many events. */
  readonly stands: Map<number, readonly string[]>
}

/** Continues a run for some commits. A commit holds one or two results, behind the marks. */
async function liveOn(
  code: Code,
  log: Log,
  picks: readonly number[],
  commits: number,
  pageSize: number,
  control: Control,
): Promise<Lived> {
  const life = await load(code, log.events, pageSize, control)
  const { trial, branches } = life
  const stands = new Map<number, readonly string[]>()
  const mark = (): void => {
    log.add(branches.draft())
    branches.confirm()
  }
  for (let commit = 0; ; commit++) {
    if (branches.areUnwritten && control.without !== 'withholding') mark()
    stands.set(log.events.length, trial.pending.map(describePending))
    if (commit === commits || trial.decision?.state !== 'waiting') break
    const before = log.events.length
    if (control.without === 'withholding') mark()
    const pick = picks[commit % picks.length] as number
    const { pending } = trial
    const at = (nth: number) => pending[nth % pending.length] as (typeof pending)[number]
    log.settle(at(pick))
    if (pick % 3 === 0 && pending.length > 1) log.settle(at(pick + 1))
    await turnLoop()
    life.isFresh = true
    await trial.deliver(log.events.slice(before))
  }
  mark()
  return { life, stands }
}

/** What came of the programs. */
export interface Tally {
  programs: number
  marked: number
  /** Runs that began with the changed code, and those of them that the code without the old branch replays. */
  born: number
  replayedWithoutOld: number
}

/**
 * Lets random programs live, be changed, and crash behind every event.
 * - A run that is loaded with the changed code waits for what it has been waiting for.
 * - No prefix of a log diverges from the changed code.
 * - A replay waits for exactly what the run was waiting for, and could have begun, when the log was as long.
 * - A run that began with the changed code is replayed by code without the old branch.
 */
export async function checkChanges(runs: number, seed: number, control: Control = {}): Promise<Tally> {
  const tally: Tally = { programs: 0, marked: 0, born: 0, replayedWithoutOld: 0 }
  const node = fc.record({
    changed: fc.boolean(),
    parallel: fc.integer({ min: 1, max: 3 }),
    inLoop: fc.boolean(),
  })
  const property = fc.asyncProperty(
    fc.array(node, { minLength: 2, maxLength: 7 }),
    fc.array(fc.nat(1000), { minLength: 9, maxLength: 9 }),
    fc.nat(14),
    fc.nat(8),
    fc.integer({ min: 1, max: 6 }),
    async (nodes, picks, before, until, pageSize) => {
      const log = new Log()
      const aged = await liveOn(write(nodes, 'old'), log, picks, before, pageSize, {})
      const deployed = log.events.length
      const both = write(nodes, 'both')
      if (before > 0) {
        const { trial } = await load(both, log.events, pageSize, control)
        expect(trial.pending.map(describePending)).toEqual(aged.life.trial.pending.map(describePending))
      }
      const again = [...picks].reverse()
      // It crashes once, and lives to its end.
      const first = await liveOn(both, log, again, until, pageSize, control)
      const second = await liveOn(both, log, picks, 200, pageSize, control)
      tally.programs++
      if (log.events.some(({ type }) => type === 'marked')) tally.marked++
      expect(first.life.trial.decision?.state).not.toBe('nondeterminism')
      expect(second.life.trial.decision?.state).toBe('completed')
      for (let length = deployed; length <= log.events.length; length++) {
        const { trial } = await load(both, log.events.slice(0, length), pageSize, control)
        expect(trial.decision?.state).not.toBe('nondeterminism')
        const stood = second.stands.get(length) ?? first.stands.get(length)
        if (stood !== undefined) expect(trial.pending.map(describePending)).toEqual(stood)
      }
      if (before > 0) return
      tally.born++
      const { trial } = await load(write(nodes, 'new'), log.events, pageSize)
      expect(trial.decision?.state).toBe('completed')
      tally.replayedWithoutOld++
    },
  )
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true })
  return tally
}
