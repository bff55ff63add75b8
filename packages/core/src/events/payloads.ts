import type { AskKind } from '../base/words.ts'
import type { FailureRecord } from '../errors/failure.ts'

// What the payloads of events and messages hold, by event and kind. `undefined` members are left out.

/** Of `started`. */
export interface StartedPayload {
  /** Of the log itself; see kernel/flags. A later engine reads every earlier format. */
  readonly format: number
  /** Behaviour of the kernel this log relies on; see there. */
  readonly flags: readonly string[]
  readonly id: string
  readonly version: number | null
  readonly input: unknown
  /** False when the starter did not know the procedure's schema: its worker checks the input, and records it. */
  readonly checked: boolean
  /** The hash of the input as it was given, where the schema made something else of it. */
  readonly given?: Uint8Array
  /** 16 bytes of real entropy, for random() and uuid(). */
  readonly seed: Uint8Array
  readonly by: string | null
  readonly tags: readonly string[]
}

/** Of `cancelled`. */
export interface CancelledPayload {
  readonly reason?: string
  /** Who cancelled it. */
  readonly by?: string
  /** The grace of an earlier cancel, or of a return that open shields hold up, is over. */
  readonly forced?: true
}

/** Of `attempted`: one attempt that failed and will be followed by another. */
export interface AttemptedPayload {
  readonly attempt: number
  readonly failure: FailureRecord
  /** How long after this event the next attempt begins. */
  readonly delayMs: number
  /** What it cost, if it called an agent. */
  readonly usage?: readonly object[]
}

/** Of `settled` for what failed. */
export interface FailedPayload extends FailureRecord {
  /** What it cost, of all attempts, if it called an agent. */
  readonly usage?: readonly object[]
  /** What a person had answered that the schema of the code refused. */
  readonly answer?: AnswerPayload
}

/** Of `settled` for a call to an agent. */
export interface AgentResult {
  readonly output: unknown
  /** Of all attempts. */
  readonly usage: readonly object[]
}

/** Of `settled` for an ask that was answered. */
export interface AnswerPayload extends GivenAnswer {
  /** When it was given, by the store's clock, in ms. */
  readonly at: number
}
/** Of the message that brings an answer. */
export interface AnswerMessage extends GivenAnswer {
  /** The author's schema has checked it, and made of it what stands here. */
  readonly checked?: true
}
/** What somebody answered. */
export interface GivenAnswer {
  readonly answer: {
    readonly approved?: boolean
    readonly params?: object
    readonly value?: unknown
    readonly choice?: string
    readonly artifact?: unknown
    readonly comment?: string
  }
  /** Whether `params` or `artifact`, which are recorded whole, differ from what was shown. */
  readonly changed?: boolean
  readonly by: string
}
/** Of `settled` for an ask, a receive or a review whose time ran out, where that is no failure. */
export interface TimedOutPayload {
  readonly timedOut: true
  /** For an approval: whether silence counts as consent. */
  readonly approved?: boolean
  /** What silence counts as, for `onTimeout: { default }`. */
  readonly default?: unknown
  /** As they were shown. */
  readonly params?: unknown
  readonly artifact?: unknown
}

/** Of `settled` for `receive` and `receiveAny`. */
export interface ReceivedPayload {
  readonly name: string
  readonly payload: unknown
}

/** Of `settled` for a decision. */
export interface DecisionPayload {
  readonly choice: string
  readonly source: 'agent' | 'person' | 'fallback'
  readonly why: 'decided' | 'unsure' | 'timed-out' | 'failed' | 'invalid'
  readonly rationale: string
  readonly confidence?: number
  readonly by: string
  readonly at: number
  readonly usage: readonly object[]
  /** What the agent had made of it, where a person decided. */
  readonly judged?: Pick<Judged, 'choice' | 'rationale' | 'confidence'>
}

/** Of `asked`: all that a person is shown, pinned when it is asked. Whatever the code says later, this question stays. */
export interface AskPayload {
  readonly kind: AskKind
  /** With its placeholders filled in. */
  readonly message: string
  readonly params?: unknown
  readonly editable?: readonly string[]
  /** JSON Schema of what may be answered. */
  readonly schema?: object
  /** An edit keeps the types of what was shown: it can be edited, and no schema says what else it may be. */
  readonly keepsTypes?: true
  /** The value of an input may be left empty. */
  readonly optional?: boolean
  readonly choices?: readonly {
    readonly value: string
    readonly label?: string
    readonly effect?: string
    readonly style?: 'primary' | 'danger'
  }[]
  readonly artifact?: unknown
  readonly baseline?: unknown
  readonly as?: string
  readonly initial?: unknown
  readonly severity?: string
  readonly error?: FailureRecord
  readonly alternatives?: readonly { readonly label: string; readonly description?: string }[]
  readonly risk?: object
  readonly details?: readonly object[]
  readonly links?: readonly { readonly label: string; readonly url: string }[]
  readonly history?: readonly {
    readonly step: string
    readonly result: unknown
    readonly durationMs: number
  }[]
  /** When its time runs out, in ms since 1970. */
  readonly dueAt?: number
  /** What silence counts as then. */
  readonly silence: Silence
  /** What an agent made of it before people were asked. */
  readonly judged?: Judged
}
export type Silence =
  | { readonly do: 'reject' | 'approve' | 'fail' | 'keep-waiting' }
  | { readonly do: 'escalate'; readonly to?: string }
  | { readonly do: 'default'; readonly value: unknown }
export interface Judged {
  readonly why: 'unsure' | 'timed-out' | 'failed' | 'invalid'
  /** What it leaned to, where it was unsure; logs of an earlier engine have it not. */
  readonly choice?: string
  readonly rationale: string
  readonly confidence?: number
  readonly usage: readonly object[]
}

/** What is kept of a run beside its log, for those who look at it: `waiting` is a fold of the log and the code. */
export interface RunInfo {
  readonly waiting: readonly WaitingPayload[]
  readonly failure?: FailureRecord
  readonly leftOver?: {
    readonly signals: readonly string[]
    readonly operations: readonly { readonly position: number; readonly name: string }[]
  }
}
export interface WaitingPayload {
  readonly position: number
  readonly kind: string
  readonly name: string
  /** People are asked, and it is open. */
  readonly asks: boolean
  readonly since: number
  readonly until: number | null
}
