import type { AskStatus } from '../../base/words.ts'
import type { Claimant, Claimed } from './claims.ts'
import type { Damaged, Message } from './mail.ts'
import type { RunKey, RunRow } from './runs.ts'

/** Asks, their answers, and the list of them. */
export interface AskStore {
  /** Closes open asks with an answer and leaves it as a message of kind 'answer'. Of several answers to one ask exactly one wins. */
  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]>
  ask(run: string, position: number): Promise<AskRow | null>
  askByKey(run: string, key: string): Promise<AskRow | null>
  /** The most urgent first; see {@link AskOrder}. */
  asks(filter: AskQuery): Promise<readonly AskRow[]>
}

export interface NewAsk {
  readonly position: number
  readonly kind: string
  /** The name it can be answered by before it is open; unique per run. */
  readonly key: string | null
  /** 0 to 3: how much is at stake. */
  readonly urgency: number
  readonly to: readonly string[]
  /** Who else sees it once it is overdue. */
  readonly escalateTo: readonly string[]
  /** When it becomes overdue; null: never. */
  readonly dueAt: number | null
  /** From when on no answer is accepted, because silence then counts as one; null: answers are always welcome. */
  readonly closesAt: number | null
  /** Everything a person sees. */
  readonly payload: Uint8Array
  /** Opened and closed at once by an early answer, which was given then. */
  readonly answered: { readonly by: string; readonly at: number; readonly payload: Uint8Array } | null
}

export interface NewAnswer {
  readonly run: string
  readonly position: number
  readonly by: string
  readonly payload: Uint8Array
}

export type Answered =
  | {
      readonly outcome: 'answered'
      readonly run: RunKey
      /** As it was left; null if it was not by this call, or that is not known. */
      readonly message: Message | null
      readonly claimed: Claimed | null
    }
  /** The ask is not open any more, or its time has run out (`closesAt` reached). */
  | { readonly outcome: 'closed'; readonly ask: AskRow }
  | { readonly outcome: 'missing' }
  | Damaged

/** An ask as it is stored; see {@link RunRow}. */
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

/** Where a row stands among asks: overdue first, then the more urgent, the sooner due (none last), the older. */
export interface AskOrder {
  readonly overdue: boolean
  readonly urgency: number
  readonly dueAt: number | null
  readonly openedAt: number
  readonly run: RunKey
  readonly position: number
}

export interface AskQuery {
  readonly status: AskStatus
  /** Asked of this audience by name; an overdue ask also counts for its `escalateTo`. */
  readonly to: string | null
  readonly run: string | null
  readonly procedure: string | null
  readonly kind: string | null
  readonly overdue: boolean | null
  /** Whether its time has run out (`closesAt` reached), be that recorded or not. */
  readonly lapsed: boolean | null
  /** The instant both are judged at, the same for all pages. */
  readonly now: number
  readonly after: AskOrder | null
  readonly limit: number
}
