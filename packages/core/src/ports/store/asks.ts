import type { AskStatus } from '../../base/words.ts'
import type { Claimant, Claimed } from './claims.ts'
import type { Damaged, Message } from './mail.ts'
import type { RunKey, RunRow } from './runs.ts'

/** Stores asks and their answers, and lists them. */
export interface AskStore {
  /** Closes open asks with answers, stored as messages of kind 'answer'. Of several answers to one ask, exactly one is accepted. */
  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]>
  ask(run: string, position: number): Promise<AskRow | null>
  askByKey(run: string, key: string): Promise<AskRow | null>
  /** Lists asks, the most urgent first; see {@link AskOrder}. */
  asks(filter: AskQuery): Promise<readonly AskRow[]>
}

/** An ask to be opened. */
export interface NewAsk {
  readonly position: number
  readonly kind: string
  /** The key for answers before the ask is open; unique per run. */
  readonly key: string | null
  /** 0 to 3. */
  readonly urgency: number
  readonly to: readonly string[]
  /** The audiences that also see it once it is overdue. */
  readonly escalateTo: readonly string[]
  /** When it becomes overdue; null: never. */
  readonly dueAt: number | null
  /** When its timeout closes it, and answers are no longer accepted; null: never. */
  readonly closesAt: number | null
  /** Everything a person is shown. */
  readonly payload: Uint8Array
  /** Set if an early answer exists: the ask is opened and closed at once, with that answer and its time. */
  readonly answered: { readonly by: string; readonly at: number; readonly payload: Uint8Array } | null
}

/** An answer to an open ask. */
export interface NewAnswer {
  readonly run: string
  readonly position: number
  readonly by: string
  readonly payload: Uint8Array
}

/** The outcome of an answer. */
export type Answered =
  | {
      readonly outcome: 'answered'
      readonly run: RunKey
      /** The stored message; null if another call stored it, or if it is unknown. */
      readonly message: Message | null
      readonly claimed: Claimed | null
    }
  /** The ask is no longer open, or its timeout has passed (`closesAt` reached). */
  | { readonly outcome: 'closed'; readonly ask: AskRow }
  | { readonly outcome: 'missing' }
  | Damaged

/** An ask as stored; see {@link RunRow}. */
export interface AskRow extends Omit<NewAsk, 'answered' | 'to' | 'escalateTo'> {
  readonly run: string
  readonly runKey: RunKey
  readonly procedure: string
  readonly startedBy: string | null
  readonly to: readonly string[] | null
  readonly escalateTo: readonly string[] | null
  readonly status: AskStatus | number
  readonly openedAt: number
  readonly closedAt: number | null
  readonly answeredBy: string | null
  readonly answer: Uint8Array | null
}

/** The sort values of an ask: overdue first, then more urgent, sooner due (no due time last), older. */
export interface AskOrder {
  readonly overdue: boolean
  readonly urgency: number
  readonly dueAt: number | null
  readonly openedAt: number
  readonly run: RunKey
  readonly position: number
}

/** Selects a page of asks; null means any. */
export interface AskQuery {
  readonly status: AskStatus
  /** Only asks addressed to this audience by name; an overdue ask also counts for its `escalateTo`. */
  readonly to: string | null
  readonly run: string | null
  readonly procedure: string | null
  readonly kind: string | null
  readonly overdue: boolean | null
  /** Only asks whose timeout has passed (`closesAt` reached), recorded or not. */
  readonly lapsed: boolean | null
  /** The instant at which both are judged, the same for all pages. */
  readonly now: number
  readonly after: AskOrder | null
  readonly limit: number
}
