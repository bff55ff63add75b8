import type { Deadline, Duration } from '../../base/duration.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type { Refused } from '../../base/refused.ts'
import type { RiskLevel } from '../../base/words.ts'

export interface RiskDetails<L extends RiskLevel = RiskLevel> {
  readonly level: L
  /** @example ['destructive', 'external'] */
  readonly reasons?: readonly string[]
  readonly reversible?: boolean
  readonly impact?: {
    readonly amount?: number
    readonly currency?: string
    readonly downtime?: Duration
    /** @example '500 products, -20 %' */
    readonly affects?: string
  }
}

/** One thing to pick. The object form says more to the person; the picked value is `value`. */
export type Choice<V extends string = string> =
  | V
  | {
      readonly value: V
      /** Default: the value. */
      readonly label?: string
      /** What picking it does. @example 'Stops the run and keeps the files' */
      readonly effect?: string
      readonly style?: 'primary' | 'danger'
    }
export type ValueOf<C> = C extends string
  ? C
  : C extends { readonly value: infer V extends string }
    ? V
    : never

/** Told to the person beside the message. Nothing here can be edited. */
export interface Section {
  readonly title: string
  readonly body: unknown
  readonly as?: 'text' | 'markdown' | 'json' | 'code' | 'table' | 'diff' | 'image'
}

/** What every question can have. */
export interface AskOptions {
  /** Who is asked. Default: everyone who may see the inbox. */
  readonly to?: Audience | readonly Audience[] | undefined
  /** Counted from the moment it is asked. Default: none, it waits for ever. Silence is never consent. */
  readonly timeout?: Deadline | undefined
  /**
   * Names the ask, so that it can be answered before it is asked. Unique in its run, at most 200 characters. Default: its
   * position.
   */
  readonly key?: string
  readonly details?: readonly Section[]
  /** Each url begins with http:, https: or mailto:. */
  readonly links?: readonly { readonly label: string; readonly url: string }[]
  /** Earlier step results to show: the `last` 0 to 1,000, or those of named steps. Default: the last 5. */
  readonly history?: 'none' | { readonly last: number } | { readonly steps: readonly string[] }
  readonly alternatives?: readonly { readonly label: string; readonly description?: string }[]
  readonly risk?: RiskLevel | RiskDetails | undefined
}

/** Stays open, is marked overdue, gains priority and is shown to the engine's `escalateTo` (or to whom you name). */
export type Escalate = 'escalate' | { readonly escalateTo: Audience }
/** `onTimeout` needs a `timeout`, if only one that may be undefined. */
export type OnTimeout<Outcome> =
  | {
      /** Starts when the ask is stored. Default: none, it waits for ever. Silence is never consent. */
      readonly timeout: Deadline | undefined
      /** What happens when the timeout passes. */
      readonly onTimeout?: Outcome
    }
  | {
      readonly timeout?: undefined
      readonly onTimeout?: Refused<"onTimeout says what happens when the timeout passes: add a timeout, such as timeout: '1h'">
    }
export type OrDefault<V> = 'fail' | 'keep-waiting' | Escalate | { readonly default: V }

/** Who answered and when, on every answer. */
export interface Answered {
  readonly by: Actor
  readonly at: Date
  readonly comment: string | undefined
}

export interface Approved<P> extends Answered {
  readonly approved: true
  /** As approved: with the person's changes, if any. */
  readonly params: P
  readonly modified: boolean
}

export interface NotApproved {
  readonly approved: false
  /** true: nobody answered in time. false: somebody said no. */
  readonly timedOut: boolean
  readonly by: Actor | undefined
  readonly at: Date
  readonly comment: string | undefined
}

export type Approval<P> = Approved<P> | NotApproved

export interface Review<A, C extends string> extends Answered {
  readonly choice: C
  /** With the person's edits, if any. */
  readonly artifact: A
  readonly edited: boolean
}

export interface Resolution<C extends string> extends Answered {
  readonly choice: C
}
