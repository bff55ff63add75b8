import type { AskStatus } from '../../base/words.ts'
import type { Claimant, Claimed } from './claims.ts'
import type { Damaged, Message } from './mail.ts'
import type { RunKey, RunRow } from './runs.ts'

/**
 * Stores asks and their answers, and lists them. Here the `position` of an ask tells it apart from the other asks of its run: it is that of
 * its operation, or a higher number if the operation asks again; see `askSlotOf`.
 */
export interface AskStore {
  /** Closes open asks with answers, stored as messages of kind 'answer'. Of several answers to one ask, exactly one is accepted. */
  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]>
  find(run: string, position: number): Promise<AskRow | null>
  /** As `find`, by the key of the run. */
  findByRunKey(run: RunKey, position: number): Promise<AskRow | null>
  findByKey(run: string, key: string): Promise<AskRow | null>
  /** Lists asks, the most urgent first; see {@link AskOrder}. */
  list(filter: AskQuery): Promise<readonly AskRow[]>
  /** Counts the asks of a list, up to `limit`. */
  count(filter: AskFilter, limit: number): Promise<number>
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
  /**
   * Whether an earlier generation of the run may have asked at this position, or under this key. Then that ask, which is
   * closed, gives way: the row at this position is replaced, and the one with this key loses it. Default: false.
   */
  readonly replaces?: boolean
  /** Set if an early answer exists: the ask is opened and closed at once, with that answer and its time. */
  readonly answered: EarlyAnswer | null
}

/** An answer to an open ask. */
export interface NewAnswer {
  readonly run: string
  readonly position: number
  readonly by: string
  readonly payload: Uint8Array
}

/** An answer that came before its ask was open. */
export interface EarlyAnswer extends GivenAnswer {
  readonly at: number
}

/** What a person has answered. */
export type GivenAnswer = Omit<NewAnswer, 'run' | 'position'>

/** What the row of an ask keeps of its answer; null before it is answered. */
export type KeptAnswer = {
  readonly [Field in keyof GivenAnswer as Field extends keyof AnswerNames ? AnswerNames[Field] : Field]:
    | GivenAnswer[Field]
    | null
}

/** The fields of an answer that have another name in the row of its ask. */
interface AnswerNames {
  readonly by: 'answeredBy'
  readonly payload: 'answer'
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
export interface AskRow extends Omit<NewAsk, 'answered' | 'replaces' | 'to' | 'escalateTo'>, KeptAnswer {
  readonly run: string
  readonly runKey: RunKey
  readonly procedure: string
  readonly startedBy: string | null
  readonly to: readonly string[] | null
  readonly escalateTo: readonly string[] | null
  readonly status: AskStatus | number
  readonly openedAt: number
  readonly closedAt: number | null
  /** Its sort values in a list by names, if they differ from the row: one of the two is damaged. */
  readonly place?: AskPlace
}

/** The sort values of an ask that are stored with its names. */
export type AskPlace = Pick<AskOrder, 'urgency' | 'dueAt' | 'openedAt'>

/** Adds the sort values of a list to a row that has others. */
export function placeAsk(row: AskRow, place: AskPlace): AskRow {
  const { urgency, dueAt, openedAt } = row
  const isSame = urgency === place.urgency && dueAt === place.dueAt && openedAt === place.openedAt
  return isSame ? row : { ...row, place }
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

/** Selects asks; null means any. */
export interface AskFilter {
  readonly status: AskStatus
  /** Only asks addressed to one of these audiences by name; an overdue ask also counts for its `escalateTo`. See {@link everyone}. */
  readonly to: readonly string[] | null
  readonly run: string | null
  readonly procedure: string | null
  readonly kind: string | null
  readonly overdue: boolean | null
  /** Only asks whose timeout has passed (`closesAt` reached), recorded or not. */
  readonly lapsed: boolean | null
  /** The instant at which both are judged, the same for all pages. */
  readonly now: number
}

/** Selects a page of asks. */
export interface AskQuery extends AskFilter {
  readonly after: AskOrder | null
  readonly limit: number
}

/** As a name in a query: asks addressed to everyone (`to` is empty). No audience has this name. */
export const everyone = ''

/** Lists the names by which an open ask is found. `late`: only once it is overdue. */
export function namesOf({ to, escalateTo }: Pick<NewAsk, 'to' | 'escalateTo'>): readonly {
  readonly name: string
  readonly late: boolean
}[] {
  const first = new Set(to.length === 0 ? [everyone] : to)
  const more = new Set(escalateTo.filter((name) => !first.has(name)))
  return [
    ...[...first].map((name) => ({ name, late: false })),
    ...[...more].map((name) => ({ name, late: true })),
  ]
}
