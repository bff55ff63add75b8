import fc from 'fast-check'
import { expect } from 'vitest'
import { expectSame } from '../../../kernel/support/everywhere.ts'
import { Log } from '../../../kernel/support/log.ts'
import { describePending, type Procedure, Trial, turnLoop } from '../../../kernel/support/trial.ts'
import type { Control } from './ops.ts'
import { type Node, nodes, programOf } from './random-program.ts'

/** A program, and all that chance decides about its run. */
interface Case {
  readonly root: Node
  readonly picks: readonly number[]
  /** Before which commit it is cancelled. */
  readonly cancelAt: number
  readonly forceAt: number
}

export const cases: fc.Arbitrary<Case> = fc.record({
  root: nodes(),
  picks: fc.array(fc.nat(1_000), { minLength: 8, maxLength: 8 }),
  cancelAt: fc.nat(14),
  forceAt: fc.nat(80),
})

/** The outcomes that must be the same wherever a log is resumed. */
interface Account {
  readonly issued: readonly string[]
  readonly pending: readonly string[]
  readonly notes: readonly string[]
  readonly outcome: string
}

interface Lived {
  readonly trial: Trial
  readonly log: Log
  /** By the seq of the last event delivered. */
  readonly accounts: ReadonlyMap<number, Account>
}

/** How many programs did what. */
interface Tally {
  programs: number
  ended: number
  cancelled: number
  races: number
  /** An operation was closed since its branch had lost. */
  lost: number
}

function accountOf(trial: Trial): Account {
  return {
    ...trial.account,
    issued: [...trial.issued],
    notes: [...trial.notes],
    pending: trial.pending.map(describePending),
  }
}

/** A run as it happens, up to 60 commits: now and then two results come in one, a result fails, a cancel comes once. */
export async function live(
  procedure: Procedure,
  { picks, cancelAt, forceAt }: Omit<Case, 'root'>,
): Promise<Lived> {
  const log = new Log()
  const trial = new Trial(procedure)
  const accounts = new Map<number, Account>()
  let decision = await trial.deliver(log.events)
  accounts.set(0, accountOf(trial))
  for (let i = 0; decision.state === 'waiting' && i < 60; i++) {
    const before = log.events.length
    const { pending } = trial
    const pick = picks[i % picks.length] as number
    const chosen = pending[pick % pending.length] as (typeof pending)[number]
    if (i === cancelAt) log.cancel()
    else if (i === cancelAt + forceAt) log.cancel('forced')
    else if (pick % 7 === 0) log.fail(chosen)
    else log.settle(chosen)
    const other = pending[(pick + 1) % pending.length] as (typeof pending)[number]
    if (pick % 5 === 0 && other !== chosen) log.settle(other)
    await turnLoop()
    decision = await trial.deliver(log.events.slice(before))
    accounts.set(log.events.length - 1, accountOf(trial))
  }
  return { trial, log, accounts }
}

/** Checks that a live run equals its replay, at once and after a crash behind every event. */
async function checkPrefixes(given: Case, tally: Tally, control?: Control): Promise<void> {
  const procedure = programOf(given.root, undefined, control)
  const { trial, log, accounts } = await live(procedure, given)
  for (const [seq, account] of accounts) {
    const again = new Trial(procedure)
    await again.deliver(log.events.slice(0, seq + 1))
    expectSame(accountOf(again), account)
  }
  const { decision } = trial
  expect(decision?.state).toMatch(/^(waiting|completed|failed)$/)
  tally.programs++
  if (decision?.state !== 'waiting') tally.ended++
  if (log.events.some(({ type }) => type === 'cancelled')) tally.cancelled++
  if (trial.notes.some((note) => note.includes('threw This branch of a race'))) tally.lost++
  if (trial.notes.some((note) => note.includes(' won '))) tally.races++
}

/** Awaits of nothing behind settlements change neither what is issued, nor the outcome. */
async function checkHops(given: Case, hops: readonly number[], control?: Control): Promise<void> {
  const { trial, log } = await live(programOf(given.root, undefined, control), given)
  let i = 0
  const again = new Trial(programOf(given.root, () => hops[i++ % hops.length] as number, control))
  await again.deliver(log.events)
  expectSame(withoutOrder(again), withoutOrder(trial))
}

/** Hops may make operations of one turn change places. */
function withoutOrder({ account: { issued, outcome } }: Trial): object {
  const [end = '', left = ''] = outcome.split('; left ')
  const named = issued.map((one) => one.slice(one.indexOf(' ') + 1))
  return { end, left: left.split(',').sort(), issued: named.sort() }
}

/** Runs the law of prefixes on so many programs. A failure prints its seed, and the smallest program that breaks it. */
export async function forAllPrefixes(numRuns: number, control?: Control): Promise<Tally> {
  const tally = { programs: 0, ended: 0, cancelled: 0, races: 0, lost: 0 }
  const law = fc.asyncProperty(cases, (given) => checkPrefixes(given, tally, control))
  await fc.assert(law, { numRuns, ...onceFor(control) })
  return tally
}

/** The same with the law of hops. */
export function forAllHops(numRuns: number, control?: Control): Promise<void> {
  const hops = fc.array(fc.nat(3), { minLength: 11, maxLength: 11 })
  const law = fc.asyncProperty(cases, hops, (given, some) => checkHops(given, some, control))
  return fc.assert(law, { numRuns, ...onceFor(control) })
}

/** What a control breaks is of no interest. */
function onceFor(control: Control | undefined): { readonly endOnFailure?: true } {
  return control === undefined ? {} : { endOnFailure: true }
}
