import fc from 'fast-check'
import { expect } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import { cutBefore, cutBehind } from '../../../src/runs/cut.ts'
import { previewRepeat, type RepeatPreview } from '../../../src/runs/preview.ts'
import { cases, live } from '../../authoring/scopes/support/laws.ts'
import { programOf } from '../../authoring/scopes/support/random-program.ts'
import { type Procedure, Trial } from '../../kernel/support/trial.ts'

/** How a log is cut at a position. */
type Cut = (events: readonly LogEvent[], position: number) => readonly LogEvent[]

export interface Tally {
  cuts: number
  /** Results that a copy has although they came behind the cut. */
  keptBehind: number
  /** Operations that the preview says are issued again. */
  repeated: number
}

/** Cuts the logs of random programs before and behind every result, and replays what is kept. */
export async function checkCuts(
  programs: number,
  cuts: readonly Cut[] = [cutBefore, cutBehind],
): Promise<Tally> {
  const tally: Tally = { cuts: 0, keptBehind: 0, repeated: 0 }
  const law = fc.asyncProperty(cases, async (given) => {
    const procedure = programOf(given.root)
    const { events } = (await live(procedure, given)).log
    const results = events.filter(({ type }) => type === 'settled')
    for (const result of results)
      for (const cut of cuts) {
        const kept = cut(events, result.position)
        tally.cuts++
        tally.keptBehind += kept.filter(({ seq, type }) => type === 'settled' && seq > result.seq).length
        const preview = previewRepeat(events, kept)
        tally.repeated += preview.operations.filter(({ becomes }) => becomes === 'repeated').length
        await checkCopy(procedure, events, kept, preview)
      }
  })
  await fc.assert(law, { numRuns: programs })
  return tally
}

/** What the preview says is what the copy does. */
async function checkCopy(
  procedure: Procedure,
  events: readonly LogEvent[],
  kept: readonly LogEvent[],
  { operations }: Pick<RepeatPreview, 'operations'>,
): Promise<void> {
  const trial = new Trial(procedure)
  const decision = await trial.deliver(kept.map((event, seq) => ({ ...event, seq })))
  expect(decision.state).toMatch(/^(waiting|completed|failed)$/)
  if (decision.state !== 'waiting') return
  const settled = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? position : [])))
  expect(trial.pending.filter(({ position }) => settled.has(position))).toEqual([])
  const listed = new Set(operations.map(({ position }) => position))
  const recorded = new Set(events.map(({ position }) => position))
  const unlisted = trial.pending.filter(({ position }) => recorded.has(position) && !listed.has(position))
  expect(unlisted).toEqual([])
  const missing = operations.filter(
    ({ position, becomes }) =>
      becomes === 'repeated' && !trial.issued.some((line) => line.startsWith(`${position} `)),
  )
  expect(missing).toEqual([])
}
