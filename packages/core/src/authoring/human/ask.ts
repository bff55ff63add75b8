import type { Deadline, Duration } from '../../base/duration.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { Refused } from '../../base/refused.ts'
import type { CommentRule, Format, RiskLevel } from '../../base/words.ts'

/** The risk of an action. */
export interface RiskDetails<L extends RiskLevel = RiskLevel> {
  /** Level of the risk. */
  readonly level: L
  /** Reasons for the level. Default: none. @example ['destructive', 'external'] */
  readonly reasons?: readonly string[]
  /** Whether the action can be undone. Default: not stated. */
  readonly reversible?: boolean
  /** Size of the possible damage. Default: not stated. */
  readonly impact?: Impact
}

/** The size of the possible damage. */
export interface Impact {
  /** Amount of money. Default: not stated. Range: finite numbers. */
  readonly amount?: number
  /** Currency of the amount. Default: not stated. */
  readonly currency?: string
  /** Expected downtime. Default: not stated. */
  readonly downtime?: Duration
  /** What is affected, such as '500 products, -20 %'. Default: not stated. */
  readonly affects?: string
}

/** One choice: a value, or an object with the value and more for the person to read. */
export type Choice<V extends string = string> = V | ChoiceDetails<V>

/** A choice with more for the person to read. */
export interface ChoiceDetails<V extends string = string> {
  /** Value that the procedure receives. Range: 1 to 200 characters, unique among the choices. */
  readonly value: V
  /** Text that the person reads. Default: the value. */
  readonly label?: string
  /** Consequence of the choice, such as 'Stops the run and keeps the files'. Default: none. */
  readonly effect?: string
  /** Style of the button. Default: none. */
  readonly style?: 'primary' | 'danger'
}

/** The value of a choice, which is a string or an object with a `value`. */
export type ValueOf<C> = C extends string
  ? C
  : C extends { readonly value: infer V extends string }
    ? V
    : never

/** A section of the details. It is shown beside the message and cannot be edited. */
export interface Section {
  /** Heading of the section. */
  readonly title: string
  /** Payload to show. */
  readonly body: unknown
  /** Format in which the inbox shows it. Default: the inbox decides. */
  readonly as?: Format
}

/** A page for the person to open. */
export interface Link {
  /** Text of the link. */
  readonly label: string
  /** Absolute URL. Range: `http:`, `https:` or `mailto:`. */
  readonly url: string
}

/** An alternative to the action. */
export interface Alternative {
  /** Name of the alternative. */
  readonly label: string
  /** Consequence of the alternative. Default: none. */
  readonly description?: string
}

/** The options of every question. */
export interface AskOptions {
  /** Who is asked. Default: the `owner` of the procedure, otherwise everyone who may see the inbox. Range: an array has at least one entry. */
  readonly to?: Audience | readonly Audience[] | undefined
  /** Maximum wait for an answer, from the moment the ask is stored; then `onTimeout` applies. Default: none; it waits forever. */
  readonly timeout?: Deadline | undefined
  /**
   * Key of the ask, by which it can be answered before it is asked. It is also its name in the log. Default: none. Range: 1
   * to 200 characters, unique in the run.
   */
  readonly key?: string
  /** Sections to show beside the message. Default: none. */
  readonly details?: readonly Section[]
  /** Pages for the person to open. Default: none. */
  readonly links?: readonly Link[]
  /** Results of earlier steps to show: the newest, or those of the named steps. Default: `{ last: 5 }`. Range: `last` from 0 to 1000. */
  readonly history?: 'none' | { readonly last: number } | { readonly steps: readonly string[] }
  /** Alternatives for the person to consider. Default: none. */
  readonly alternatives?: readonly Alternative[]
  /** Risk of the action; asks with a higher risk come first in the inbox. Default: not stated. */
  readonly risk?: RiskLevel | RiskDetails | undefined
  /**
   * Whether an answer must have a comment: 'comment' each one, 'comment-on-reject' only a rejection, of `approve` or of a review with the
   * choice 'reject'. An answer without it is refused with 'answer-invalid'. Default: a comment is optional.
   */
  readonly require?: CommentRule | undefined
  /** Names of the channels of the engine that deliver the ask. Default: those whose `wants` agrees. An empty array leaves it to the inbox. */
  readonly channels?: readonly string[]
}

/** Escalates on timeout: the ask stays open, becomes overdue, and is shown to `escalateTo` (default: the engine's). */
export type Escalate = 'escalate' | { readonly escalateTo: Audience }
/** The options for a timeout. `onTimeout` requires a `timeout`, even one that may be undefined. */
export type OnTimeout<Outcome> =
  | {
      /** Maximum wait for an answer, from the moment the ask is stored. Default: none; it waits forever. */
      readonly timeout: Deadline | undefined
      /** Outcome when the timeout passes; it needs a `timeout`. Default: 'reject' for `approve`, 'fail' for the others. */
      readonly onTimeout?: Outcome
    }
  | {
      readonly timeout?: undefined
      readonly onTimeout?: Refused<"onTimeout says what happens when the timeout passes: add a timeout, such as timeout: '1h'">
    }
export type OrDefault<V> = 'fail' | 'keep-waiting' | Escalate | { readonly default: V }

/** The author and the time of an answer. */
export interface Answered {
  readonly by: Actor
  readonly at: Date
  readonly comment: string | undefined
}

/** An approval that was given. */
export interface Approved<P> extends Answered {
  readonly approved: true
  /** The approved params, with the person's changes, if any. */
  readonly params: P
  readonly modified: boolean
}

/** An approval that was rejected, or that timed out. */
export interface NotApproved {
  readonly approved: false
  /** `true` if no person answered in time, `false` if a person said no. */
  readonly timedOut: boolean
  readonly by: Actor | undefined
  readonly at: Date
  readonly comment: string | undefined
}

/** The result of `ctx.human.approve`. */
export type Approval<P> = Approved<P> | NotApproved

/** The result of `ctx.human.review`. */
export interface Review<A, C extends string> extends Answered {
  readonly choice: C
  /** With the person's edits, if any. */
  readonly artifact: A
  readonly edited: boolean
}

/** The result of `ctx.human.escalate`. */
export interface Resolution<C extends string> extends Answered {
  readonly choice: C
}
