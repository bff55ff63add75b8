import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import type { LogEvent } from '../../../../src/events/event.ts'
import { textOf } from '../../../kernel/support/log.ts'
import type { Account } from '../../../kernel/support/trial.ts'
import { cases, live } from './laws.ts'
import { type Node, programOf } from './random-program.ts'

/** A program, the log of a run of it, and what that came to. */
export interface Golden extends Account {
  readonly root: Node
  readonly events: readonly (Omit<LogEvent, 'payload' | 'link'> & { readonly payload: string })[]
}

/** Writes golden logs of `count` programs, once for a version of the format. Never overwrites existing logs. */
export async function recordGolden(file: URL, count: number, seed: number): Promise<void> {
  const golden: Golden[] = []
  for (const given of fc.sample(cases, { numRuns: 100 * count, seed })) {
    if (golden.length === count) break
    const { trial, log } = await live(programOf(given.root), given)
    const isRich = trial.notes.some((note) => / won | mapped |This branch|which closed/.test(note))
    if (!isRich || trial.decision?.state === 'waiting' || trial.issued.length < 4) continue
    const events = log.events.map(({ link: _, ...event }) => ({
      ...event,
      payload: textOf(event as LogEvent),
    }))
    golden.push({ root: given.root, events, ...trial.account })
  }
  writeFileSync(file, golden.map((one) => `${JSON.stringify(one)}\n`).join(''), { flag: 'wx' })
}
