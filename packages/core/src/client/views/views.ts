import type { AskDecision } from '../../asks/decisions.ts'
import type { Link, RiskDetails, Section } from '../../authoring/human/ask.ts'
import type { Actor, Audience } from '../../base/people.ts'
import type {
  AskKind,
  AskStatus,
  CommentRule,
  EntryStatus,
  RunStatus,
  RunVerb,
  Severity,
  WaitingKind,
} from '../../base/words.ts'
import type { Failure } from '../../errors/error-details.ts'
import type { NoticeKind } from '../../ports/store/notices.ts'

/** A delivery of an ask to a channel. */
export interface Delivery {
  /** Name of the channel. */
  readonly channel: string
  /** Id of the run that delivers, whose log has the attempts and the comments. */
  readonly run: string
  /** Status of the run: 'waiting' from the delivery until the ask is closed. */
  readonly status: RunStatus
}

/** The state of a run. */
export interface RunView {
  readonly id: string
  readonly procedure: string
  /** 0 until a worker first claims a run that was started with `ref`. */
  readonly version: number
  readonly status: RunStatus
  /** Number of the present generation: 1, 2 … It grows with `ctx.continueAs`, `ifEnded: 'again'` and a retry of a failed run. */
  readonly generation: number
  /** The run whose past it shares, and the position up to which; undefined unless it is a fork. */
  readonly forkedFrom: { readonly run: string; readonly position: number } | undefined
  readonly startedAt: Date
  readonly endedAt: Date | undefined
  /** Pending operations, at most 100; empty while a step of the run is executing. */
  readonly waitingFor: readonly Waiting[]
  /** Why the run failed, is stuck or is quarantined, with a stack. */
  readonly failure: Failure | undefined
  /** Why the run is stuck, as data; undefined with any other status. */
  readonly stuck: Stuck | undefined
  readonly tags: readonly string[]
  readonly startedBy: Actor | undefined
  /** The run that created it with `ctx.call` or `ctx.spawn`; undefined if a caller did. */
  readonly parent: RunParentView | undefined
  /** How far it is, as its procedure last said with `ctx.progress`; undefined if it did not. */
  readonly progress: ProgressView | undefined
  /** What was undone when it failed or was cancelled, at most a hundred names of each; undefined if there was nothing to undo. */
  readonly rollback: RollbackView | undefined
  /** When the run was first requested to be cancelled. */
  readonly cancelRequestedAt: Date | undefined
  /** The reason that the request gave, known as soon as the request is stored. */
  readonly cancelReason: string | undefined
  /** Who requested it, if the request said so, known as soon as the request is stored. */
  readonly cancelledBy: Actor | undefined
  /** Who began the present generation with a retry, if the call said so. */
  readonly retriedBy: Actor | undefined
  /** Unused items of an ended run, at most 100 of each: signals never received, operations never awaited. */
  readonly leftOver: {
    readonly signals: readonly string[]
    readonly operations: readonly { readonly position: number; readonly name: string }[]
  }
}

/** The state of a run, with its values. */
export interface RunWithValues extends RunView {
  /** Undefined if the run cannot be read. */
  readonly values: RunValues | undefined
}

/** What a run was given, exposes and has returned. Values of more than 64 KiB are left out. */
export interface RunValues {
  /** The input of the present generation, as it was recorded at the start. */
  readonly input: unknown
  /** Undefined unless the run has completed. */
  readonly output: unknown
  /** What it exposes, sorted by name. */
  readonly exposed: readonly ExposedValue[]
  /** What is left out for its size: 'input', 'output', or 'exposed.' and a name. `result`, `state` and `export` have it. */
  readonly omitted: readonly string[]
}

/** The state of a run, with facts about it. */
export interface RunWithFacts extends RunView {
  /** Undefined if the run cannot be read. */
  readonly facts: RunFacts | undefined
}

/** What stands around a run. Counts stop at 1,000. */
export interface RunFacts {
  /** The worker that has the run in memory, or had it when it died; undefined if the run waits or has ended. */
  readonly owner: RunOwner | undefined
  /** The number of operations of the present generation. */
  readonly entries: number
  /** The number of its open asks. */
  readonly openAsks: { readonly count: number; readonly capped: boolean }
  readonly children: ChildrenCount
  /** What agents have reported in the newest 1,000 events of the present generation. */
  readonly usage: RunUsage
  /** What can be done with the run now, as far as it is known without trying. */
  readonly can: { readonly [V in RunVerb]: Possibility }
}

/** The worker that owns a run. */
export interface RunOwner {
  /** The name of the worker: host and process. */
  readonly worker: string
  /** When it last renewed its lease. */
  readonly seenAt: Date
  /** When its lease expires unless it renews it. Once that has passed, another worker takes over the run. */
  readonly leaseEndsAt: Date
}

/** The children of a run by status, the newest 1,000 of them. */
export interface ChildrenCount {
  readonly byStatus: { readonly [S in RunStatus]: number }
  /** Whether there may be older children, which are not counted. */
  readonly capped: boolean
}

/** The sum of what agents have reported. */
export interface RunUsage {
  /** The number of finished calls of agents. */
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  /** Whether the log has earlier events, which are not counted. */
  readonly capped: boolean
}

/** Whether something can be done, and if not, why. */
export type Possibility = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** A value that a run exposes with `ctx.expose`. */
export interface ExposedValue {
  readonly name: string
  /** When it was last stored. */
  readonly at: Date
  readonly value: unknown
}

/** The origin of a child run. */
export interface RunParentView {
  /** Id of the run that created it. */
  readonly run: string
  /** Position of the operation that created it; undefined if an earlier version did not store it. */
  readonly position: number | undefined
}

/** How far a run is. */
export interface ProgressView {
  readonly done: number
  /** What `done` is out of, if the procedure said so. */
  readonly total: number | undefined
  readonly message: string | undefined
}

/** What was undone of a run. */
export interface RollbackView {
  /** The failure, or the reason given to `ctx.rollback`. */
  readonly reason: string
  /** Names of steps and undos, in the order in which they were undone. */
  readonly undone: readonly string[]
  /** Undos that failed after all their attempts. */
  readonly failed: readonly { readonly name: string; readonly failure: Failure }[]
  /**
   * Which undos did not run, and why: the run had returned with an invalid output, an exception escaped a callback, or the run
   * was cancelled and ended without its code. Undefined if all ran.
   */
  readonly skipped: string | undefined
}

/** Why a run is stuck. `failure` says the same as text, with what to do. */
export interface Stuck {
  /** Code of the error, such as 'nondeterminism', 'procedure-broken', 'foreign-await' or 'version-gone'. */
  readonly code: string
  /** For 'nondeterminism': the position at which the code does not match the log. */
  readonly position: number | undefined
  /** For 'nondeterminism': the operation in the log. */
  readonly recorded: string | undefined
  /** For 'nondeterminism': the operation that the code asks for. */
  readonly asked: string | undefined
  /** Place in the code, as `file:line:column`; undefined if it is unknown. */
  readonly at: string | undefined
  /** When a worker last tried to execute the run; undefined for a run that an earlier version marked. */
  readonly triedAt: Date | undefined
}

/** A pending operation of a run. */
export interface Waiting {
  /** 'worker': the run is due, and no live engine has its procedure in its version. Not in this release: 'queue'. */
  readonly kind: WaitingKind
  /** For 'worker': the name of the procedure. */
  readonly name: string
  /** For 'worker': the position of the next operation. */
  readonly position: number
  /** For an ask: its id. */
  readonly ask: string | undefined
  readonly until: Date | undefined
}

/** A failed attempt of a step or an agent call that is retried. */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number
  /** When it failed. */
  readonly timestamp: string
  readonly duration_ms: number
  readonly error: Failure
}

/** The operations of the present generation of a run and their results, by position. */
export interface ExecutionLog {
  readonly procedure_id: string
  readonly execution_log: readonly {
    readonly position: number
    /**
     * 'step', 'llm', 'timer', 'signal', 'hitl_approval', 'hitl_input', 'hitl_select', 'hitl_review', 'hitl_escalation',
     * 'hitl_notification', 'ail_decision', 'undo', 'child', 'spawn', 'result', 'send', 'update', 'reply' or 'checkpoint'; later
     * versions may add more.
     */
    readonly type: string
    readonly name: string
    readonly status: EntryStatus
    /**
     * null while pending. `{}` if there is no value, `{ error: { name, message, code } }` for a failure. Answers and decisions
     * of each kind also have `value` (what was decided; null if nothing was), `responded_at` and `timed_out`.
     */
    readonly result: unknown
    readonly timestamp: string
    readonly duration_ms: number
    /** The attempts that have failed and were, or will be, followed by another: at most the last 20. Left out if there is none. */
    readonly attempts?: readonly FailedAttempt[]
    /**
     * The action to whose consent a settled operation belongs: the policy, the facts or a question of a gate or a plan. A fork obtains it
     * anew, so that its result cannot be edited. Left out for other operations.
     */
    readonly consent_to?: string
    /** When the next attempt is due, if an attempt has failed and the operation is open. */
    readonly next_attempt_at?: string
  }[]
  /** The number of the generation whose operations these are: the present one. */
  readonly generation: number
  /** The number of entries with a result. */
  readonly replay_index: number
}

/** Something that people are told and need not answer. */
export interface Notice {
  /** Digits; unique in the store. */
  readonly id: string
  readonly run: string
  readonly procedure: string
  /** The position of the operation; undefined if the engine tells it. */
  readonly position: number | undefined
  /** 'failed-undo': the engine reports an undo that failed or did not run. */
  readonly kind: NoticeKind
  readonly severity: Severity
  /** The message with its placeholders replaced. */
  readonly message: string
  /** Who is told. Empty: everyone. */
  readonly to: readonly Audience[]
  /** The actor who started the run. */
  readonly startedBy: Actor | undefined
  readonly details: readonly Section[]
  readonly links: readonly Link[]
  readonly at: Date
  /** Whether the `reader` of the filter has read it. */
  readonly isRead: boolean
}

/** An ask as a person sees it. */
export interface Ask {
  /** 16 hexadecimal digits. The address `run/position` is accepted wherever an id is. */
  readonly id: string
  /** Identifies what people are shown: 32 hexadecimal digits. An answer that names it applies to no other question. */
  readonly digest: string
  readonly run: string
  readonly procedure: string
  readonly position: number
  readonly key: string | undefined
  readonly kind: AskKind
  readonly status: AskStatus
  /** The message with its placeholders replaced. */
  readonly message: string
  readonly params: unknown
  readonly editable: readonly string[]
  /** The JSON Schema of the answer. */
  readonly schema: object | undefined
  readonly choices: readonly {
    readonly value: string
    readonly label: string
    readonly effect: string | undefined
    readonly style: 'primary' | 'danger' | undefined
  }[]
  /** The ways to answer it, with what each has to be confirmed by. */
  readonly decisions: readonly AskDecision[]
  readonly artifact: unknown
  readonly baseline: unknown
  readonly as: Section['as'] | undefined
  readonly initial: unknown
  readonly severity: Severity | undefined
  readonly error: Failure | undefined
  readonly alternatives: readonly { readonly label: string; readonly description?: string }[]
  readonly risk: RiskDetails | undefined
  /** The actor who started the run. */
  readonly startedBy: Actor | undefined
  /** Who started the runs of which its run, or a run above it, is a fork: with `selfApproval: false` they cannot answer it either. */
  readonly alsoStartedBy: readonly Actor[]
  readonly to: readonly Audience[]
  readonly details: readonly Section[]
  readonly links: readonly { readonly label: string; readonly url: string }[]
  readonly history: readonly {
    readonly step: string
    readonly result: unknown
    readonly durationMs: number
  }[]
  readonly askedAt: Date
  readonly dueAt: Date | undefined
  /** What happens on timeout, in words. */
  readonly onTimeout: string | undefined
  readonly overdue: boolean
  /** Which answers must have a comment; undefined if it is optional. See also `decisions`. */
  readonly require: CommentRule | undefined
  /** Names of the channels that deliver it; undefined if they decide. */
  readonly channels: readonly string[] | undefined
  /** Its deliveries by channels. Only `inbox.get` reads them: undefined in lists. */
  readonly deliveries: readonly Delivery[] | undefined
  /** Not in this release: always undefined. */
  readonly claimedBy: Actor | undefined
  /** The accepted answer: who gave it, when, and how. */
  readonly answer: AcceptedAnswer | undefined
}

/** An answer that an ask has accepted. */
export type AcceptedAnswer = Answer & {
  readonly by: Actor
  readonly at: Date
  /** The channel it came through, as the caller said. */
  readonly via?: string | undefined
  /** Who made the link that it came through. */
  readonly madeBy?: Actor | undefined
  /** Who gave it for the person in `by`, if another did. */
  readonly actedBy?: Actor | undefined
}

/** An answer to an ask; the procedure receives the same fields. */
export type Answer = { readonly comment?: string | undefined } & (
  | { /** approve */ readonly approved: true; readonly params?: object | undefined }
  | { /** approve */ readonly approved: false }
  | { /** input */ readonly value: unknown }
  | {
      /** select, review, escalate, decide */ readonly choice: string /** review */
      readonly artifact?: unknown
    }
)
