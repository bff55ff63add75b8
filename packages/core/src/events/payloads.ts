import type { Issues } from '../base/issues.ts'
import type { AskKind, CommentRule, RunStatus, Severity } from '../base/words.ts'
import type { FailureRecord } from '../errors/failure.ts'

// The payloads of events and messages, by event type and kind. `undefined` members are omitted.

/** The payload of `started`. */
export interface StartedPayload {
  /** The format of the log; see kernel/flags. A later engine reads every earlier format. */
  readonly format: number
  /** Kernel behaviour that this log relies on; see kernel/flags. */
  readonly flags: readonly string[]
  readonly id: string
  readonly version: number | null
  readonly input: unknown
  /** False if the starter did not have the procedure's schema: its worker validates and records the input. */
  readonly checked: boolean
  /** The hash of the input as given, if the schema transformed it. */
  readonly given?: Uint8Array
  /** 16 bytes of real entropy, the seed of random() and uuid(). */
  readonly seed: Uint8Array
  readonly by: string | null
  readonly tags: readonly string[]
  /** When the run cancels itself. */
  readonly timeout?: RunTimeout
  /** The run that created it; missing if a caller did. */
  readonly parent?: ParentPayload
  /** Missing in the first generation of a run. */
  readonly generation?: GenerationPayload
  /** That of the call that started it, or of its parent. */
  readonly trace?: TraceContext
  /** Set if its log begins with events of another run. */
  readonly fork?: ForkPayload
  /**
   * The call that made the run as a fork, in all its generations until a caller begins it again. Missing in the forks of earlier
   * versions.
   */
  readonly forkedFrom?: ForkOrigin
  /** Set if a caller has begun it again, and it belonged to the family of a fork before: it still runs beside the original. */
  readonly family?: ForkFamily
}

/** What a caller has asked to be forked, by which a repeated call is recognised. */
export interface ForkOrigin {
  readonly run: string
  /** The position before whose result it continues. */
  readonly position: number
  /** The id of the checkpoint or ask that named the place; null if a position did. */
  readonly checkpoint: string | null
  /** The hash of the edits as given. */
  readonly edits: Uint8Array
  /** The runs of which the original is a fork itself. Missing if there are none. */
  readonly above?: readonly string[]
  /** Who started the original and those runs. Missing in the forks of earlier versions. */
  readonly starters?: readonly string[]
}

/** The fork to whose family a run belongs, and the runs of which it is a fork. */
export interface ForkFamily {
  readonly id: string
  readonly originals: readonly string[]
  /** Who started the originals. Missing if no one is known. */
  readonly starters?: readonly string[]
}

/** Where a fork comes from. */
export interface ForkPayload {
  readonly run: string
  /** The position before whose result it continues. */
  readonly position: number
  /** The position of its first operation. */
  readonly firstPosition: number
  /** The seed of the keys of its steps: what it does again has a key of its own. */
  readonly keys: Uint8Array
  /** The seed of random values from its first own event on. */
  readonly seed: Uint8Array
  /** The seq of its first own event. */
  readonly from: number
}

/** How a generation follows the one before it. */
export interface GenerationPayload {
  /** Its number: the first generation of a run has number 1. */
  readonly number: number
  /** Who retried the run, if the caller said so. */
  readonly by?: string
  /** 'continued' by its procedure; begun 'again' by a caller after the run had ended; 'retried' with the past of the one before. */
  readonly why: 'continued' | 'again' | 'retried'
  /** The hash of the log before it, with which its first block begins. */
  readonly previous: Uint8Array
  /** Where the generation before it begins in the log. */
  readonly previousBase: number
  /** The position of its first operation. Positions are counted over all generations, so that no two asks share one. */
  readonly firstPosition: number
  /** The runs that an earlier generation has created and that end with this run. */
  readonly children?: readonly string[]
  /** The children that were retried with the run, and that end with it. It may no longer come to wait for them. */
  readonly retried?: readonly RetriedChild[]
  /** The children that earlier generations have created, and that a retried run may ask for again. Missing in logs of earlier engines. */
  readonly createdBefore?: readonly RetriedChild[]
  /** The hash of the input that a caller has started the run with, by which a repeated start is recognised. */
  readonly given?: Uint8Array
  /** The number of events behind its first one that a retry has kept. Missing in logs of earlier engines. */
  readonly kept?: number
  /** How often earlier generations have asked at a position, for those at which this one may ask again. */
  readonly askings?: readonly (readonly [position: number, times: number])[]
}

/** A child that continues, as its parent does. */
export interface RetriedChild {
  readonly id: string
  /** The position of the operation that created it; null if an earlier version did not store it. */
  readonly position: number | null
}

/** A W3C trace context. Range: at most 512 bytes. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Where a child comes from. */
export interface ParentPayload {
  readonly run: string
  /** The position of the operation that created it. */
  readonly position: number
  /** The number of runs above it, at least 1. */
  readonly depth: number
  /** The topmost run above it. Missing if that is `run`, and in the logs of earlier versions. */
  readonly root?: string
  /** Whether the parent waits for its end, which then sends it an `EndedPayload`. */
  readonly isCalled: boolean
  /** Set if the end of the parent does not cancel it. Missing in the logs of earlier versions. */
  readonly detached?: true
  /** Set if it belongs to the family of a fork. */
  readonly fork?: ForkFamily
}

/** The payload of `created`, and of `settled` for a spawned run. */
export interface CreatedPayload {
  readonly id: string
  /** Set if the end of the parent does not cancel the run. */
  readonly detached?: true
  /** Set if the run existed before, and has another origin. */
  readonly existed?: true
}

/** The payload of a `watch` message: the operation that waits for the end of the run. */
export interface WatchPayload {
  readonly run: string
  readonly position: number
}

/** The payload of an `ended` message: how a run has ended. */
export type EndedPayload =
  | { readonly run: string; readonly state: 'completed'; readonly output: Uint8Array | null }
  | { readonly run: string; readonly state: 'failed'; readonly failure: FailureRecord }
  | { readonly run: string; readonly state: 'cancelled'; readonly reason?: string | undefined }

/** The number of no message: they are counted from 1. A fork has it for the updates that its original answers. */
export const noMessage = 0

/** The payload of `settled` for an update that is to be handled. */
export interface UpdatePayload {
  /** The number of its message, or `noMessage`. */
  readonly n: number
  /** Who sent it, if the caller said so. */
  readonly by?: string
  readonly input: unknown
}

/** The outcome of an update. */
export type ReplyPayload =
  | { readonly value: unknown }
  /** Its handler threw, or the procedure does not declare it. `unfinished`: it was at work when the run continued with an empty log. */
  | { readonly failure: FailureRecord; readonly unfinished?: true }
  /** Its input does not match the schema. */
  | { readonly invalid: Issues }
  /** The run ended before it was handled. `unfinished`: its handler had begun. */
  | { readonly ended: RunStatus; readonly unfinished?: true }

/** The payload of `settled` for a reply. `n`: the number of the message of its update. */
export type RepliedPayload = ReplyPayload & { readonly n: number }

/** How far a run is, as it says itself. */
export interface ProgressRecord {
  readonly done: number
  readonly total?: number
  readonly message?: string
}

/** A span from the first event of a run, or an instant, in ms. */
export type RunTimeout = { readonly afterMs: number } | { readonly atMs: number }

/** The payload of `cancelled`. */
export interface CancelledPayload {
  readonly reason?: string
  /** The actor who cancelled the run. */
  readonly by?: string
  /** Set if the grace period of an earlier cancel, or of a return that open shields delay, has passed. */
  readonly forced?: true
}

/** The payload of `marked`. The name of the event is the change. */
export interface MarkedPayload {
  readonly branch: number
}

/** The first cancel of a run, as it is shown. `at`: in ms since 1970. */
export interface CancelNote {
  readonly at: number
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

/** The payload of `attempted`: an attempt that failed and will be retried. */
export interface AttemptedPayload {
  readonly attempt: number
  readonly failure: FailureRecord
  /** The delay between this event and the next attempt, in ms. */
  readonly delayMs: number
  /** The usage, if an agent was called. */
  readonly usage?: readonly object[]
}

/** The payload of a failed `settled`. */
export interface FailedPayload extends FailureRecord {
  /** The usage of all attempts, if an agent was called. */
  readonly usage?: readonly object[]
  /** What the agent was given, if one was called. */
  readonly input?: ShownMaterial
  /** As that of {@link AgentResult}. */
  readonly schema?: object
  /** A person's answer that the current schema rejected. */
  readonly answer?: AnswerPayload
}

/** The payload of `settled` for a checkpoint. */
export interface CheckpointPayload {
  readonly id: string
  /** The saved value. */
  readonly state: Uint8Array | null
}

/** The payload of `settled` for an agent call. */
export interface AgentResult {
  readonly output: unknown
  /** The usage of all attempts. */
  readonly usage: readonly object[]
  /** What the agent was given. Missing if that was nothing, and in logs of earlier engines. */
  readonly input?: ShownMaterial
  /** The JSON Schema of the output, which an edit by a fork has to match. Missing if it is large, and in logs of earlier engines. */
  readonly schema?: object
}

/** The payload of `settled` for an answered ask. */
export interface AnswerPayload extends GivenAnswer {
  /** The store's time of the answer, in ms. */
  readonly at: number
}
/** The payload of the message that delivers an answer. */
export interface AnswerMessage extends GivenAnswer {
  /** Set if the author's schema has validated the answer, and this is its output. */
  readonly checked?: true
}
/** An answer as given. */
export interface GivenAnswer {
  readonly answer: {
    readonly approved?: boolean
    readonly params?: object
    readonly value?: unknown
    readonly choice?: string
    readonly artifact?: unknown
    readonly comment?: string
  }
  /** Whether `params` or `artifact`, which are recorded whole, differ from the shown ones. */
  readonly changed?: boolean
  readonly by: string
  /** The channel it came through, if the caller said so. */
  readonly via?: string
  /** Who made the link that it came through. */
  readonly madeBy?: string
  /** Who gave it for the person in `by`, if another did. */
  readonly actedBy?: string
  /** The digest of what the person was shown, if the caller said so. */
  readonly digest?: string
}
/** The payload of `settled` for an ask, a receive or a review that timed out without failing. */
export interface TimedOutPayload {
  readonly timedOut: true
  /** For an approval: whether the timeout approves. */
  readonly approved?: boolean
  /** The answer on timeout, for `onTimeout: { default }`. */
  readonly default?: unknown
  /** The params and the artifact as shown. */
  readonly params?: unknown
  readonly artifact?: unknown
}

/** The payload of `settled` for `receive` and `receiveAny`. */
export interface ReceivedPayload {
  readonly name: string
  /** Who sent it, if the caller said so. */
  readonly by?: string
  readonly payload: unknown
}

/** The payload of `settled` for a notice, and what a store keeps of it. */
export interface NoticePayload {
  readonly message: string
  /** Empty: everyone. */
  readonly to: readonly string[]
  readonly severity: Severity
  readonly details?: readonly object[]
  readonly links?: readonly { readonly label: string; readonly url: string }[]
  /** Of the run, for a notice that the engine makes. */
  readonly generation?: number
}

/** Who stands behind the person that is recorded with an answer. */
export type AnswerOrigin = Pick<GivenAnswer, 'madeBy' | 'actedBy'>

/** The payload of `settled` for a decision. */
export interface DecisionPayload extends AnswerOrigin {
  readonly choice: string
  readonly source: 'agent' | 'person' | 'fallback'
  readonly why: 'decided' | 'unsure' | 'timed-out' | 'failed' | 'invalid'
  readonly rationale: string
  readonly confidence?: number
  readonly by: string
  readonly at: number
  readonly usage: readonly object[]
  /** What the agent was asked and shown; missing in logs of earlier versions. */
  readonly question?: string
  readonly material?: ShownMaterial
  /** The agent's own verdict, if a person decided. */
  readonly judged?: Pick<Judged, 'choice' | 'rationale' | 'confidence'>
}

/** What an agent was shown: the value, or the beginning of its JSON and the SHA-256 of its bytes if it is large. */
export type ShownMaterial =
  | { readonly value: unknown }
  | { readonly bytes: number; readonly sha256: string; readonly head: string }

/** The payload of `asked`: everything a person is shown. It is fixed when the ask is created; later code does not change it. */
export interface AskPayload {
  readonly kind: AskKind
  /** The message with its placeholders replaced. */
  readonly message: string
  readonly params?: unknown
  readonly editable?: readonly string[]
  /** The JSON Schema of the answer. */
  readonly schema?: object
  /** Set if an edit must keep the types of the shown value, because it is editable without a schema. */
  readonly keepsTypes?: true
  /** Whether the value of an input may be empty. */
  readonly optional?: boolean
  readonly choices?: readonly {
    readonly value: string
    readonly label?: string
    readonly effect?: string
    readonly style?: 'primary' | 'danger'
  }[]
  /** Of an approval: what follows from a yes and from a no. */
  readonly effects?: { readonly approve?: string; readonly reject?: string }
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
  /** The audiences that may answer it; empty: everyone. Missing in logs of earlier engines. */
  readonly to?: readonly string[]
  /** The audiences that may also answer it once it is overdue. */
  readonly escalateTo?: readonly string[]
  /** Who started the runs of which its run, or a run above it, is a fork. Missing if there are none. */
  readonly starters?: readonly string[]
  /** Names of the channels that deliver it; missing if they decide. */
  readonly channels?: readonly string[]
  /** Which answers must have a comment; missing if none must. */
  readonly require?: CommentRule
  /** When the timeout passes, in ms since 1970. */
  readonly dueAt?: number
  /** What happens on timeout. */
  readonly silence: Silence
  /** An agent's verdict before people were asked. */
  readonly judged?: Judged
}
export type Silence =
  | { readonly do: 'reject' | 'approve' | 'fail' | 'keep-waiting' }
  | { readonly do: 'escalate'; readonly to?: string }
  | { readonly do: 'default'; readonly value: unknown }
export interface Judged {
  readonly why: 'unsure' | 'timed-out' | 'failed' | 'invalid'
  /** The choice it leaned towards, if it was unsure; missing in logs of earlier engines. */
  readonly choice?: string
  readonly rationale: string
  readonly confidence?: number
  readonly usage: readonly object[]
}

/** What was undone of a run. */
export interface RollbackRecord {
  /** Why the first rollback began; undefined if there was none. */
  reason: string | undefined
  readonly undone: string[]
  readonly failed: { readonly name: string; readonly failure: FailureRecord }[]
  /** Why undos did not run. */
  readonly skipped?: string
}

/** What lists show of a run, stored beside its log; `waiting` is derived from the log and the code. */
export interface RunInfo {
  readonly waiting: readonly WaitingPayload[]
  readonly failure?: FailureRecord
  readonly rollback?: RollbackRecord
  readonly leftOver?: {
    readonly signals: readonly string[]
    readonly operations: readonly { readonly position: number; readonly name: string }[]
  }
  /** Set once the log has its first cancel. */
  readonly cancelled?: CancelNote
  readonly progress?: ProgressRecord
  /** Missing in the first generation. */
  readonly generation?: number
  /** Set for a fork. */
  readonly forkedFrom?: { readonly run: string; readonly position: number }
  /** Who began the present generation with a retry, if the caller said so. */
  readonly retriedBy?: string
}
/** What lists show of how a log came to be. */
export type RunOrigin = Pick<RunInfo, 'generation' | 'forkedFrom' | 'retriedBy'>
export interface WaitingPayload {
  readonly position: number
  readonly kind: string
  readonly name: string
  /** Whether people are asked and the ask is open. */
  readonly asks: boolean
  /** The number under which the ask is stored. Missing if it is the position. */
  readonly slot?: number
  readonly since: number
  readonly until: number | null
}
