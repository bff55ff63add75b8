// What the server replies. A test compares these types with the server's own shapes.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

export type Role = 'answer' | 'watch' | 'operate' | 'admin'
export interface Me {
  readonly actor: string
  readonly names: readonly string[]
  readonly role: Role
}

export type AskKind = 'approve' | 'input' | 'select' | 'review' | 'escalate' | 'decide'
export type AskStatus = 'open' | 'answered' | 'timed-out' | 'withdrawn'
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical'

export interface Choice {
  readonly value: string
  readonly label: string
  readonly effect?: string
  readonly style?: 'primary' | 'danger'
}

export interface Risk {
  readonly level: RiskLevel
  readonly reasons?: readonly string[]
  readonly reversible?: boolean
  readonly impact?: {
    readonly amount?: number
    readonly currency?: string
    readonly downtime?: string
    readonly affects?: string
  }
}

export interface GivenAnswer {
  readonly by: string
  /** Who made the link that it came through. */
  readonly madeBy?: string
  /** Who gave it for the person in `by`. */
  readonly actedBy?: string
  readonly at: string
  readonly comment?: string
  readonly approved?: boolean
  readonly params?: Json
  readonly value?: Json
  readonly choice?: string
  readonly artifact?: Json
}

export interface Decision {
  readonly value: string
  readonly label: string
  readonly effect?: string
  readonly style: 'primary' | 'danger' | 'plain'
  readonly confirm: 'none' | 'second' | 'word'
}

export interface AskBrief {
  readonly id: string
  readonly run: string
  readonly procedure: string
  readonly position: number
  readonly key?: string
  readonly kind: AskKind
  readonly status: AskStatus
  readonly message: string
  readonly choices: readonly Choice[]
  readonly decisions: readonly Decision[]
  readonly severity?: 'info' | 'warning' | 'error' | 'critical'
  readonly risk?: Risk
  readonly to: readonly string[]
  readonly askedAt: string
  readonly dueAt?: string
  readonly onTimeout?: string
  readonly overdue: boolean
  readonly startedBy?: string
  readonly answer?: GivenAnswer
}

export interface Failure {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

export type Format = 'text' | 'markdown' | 'json' | 'code' | 'table' | 'diff' | 'image'

export interface Ask extends AskBrief {
  /** Identifies what is shown. */
  readonly digest: string
  readonly params?: Json
  readonly editable: readonly string[]
  readonly schema?: Json
  readonly artifact?: Json
  readonly baseline?: Json
  readonly as?: Format
  readonly initial?: Json
  readonly error?: Failure
  readonly alternatives: readonly { readonly label: string; readonly description?: string }[]
  readonly details: readonly { readonly title: string; readonly body: Json; readonly as?: string }[]
  readonly links: readonly { readonly label: string; readonly url: string }[]
  readonly history: readonly { readonly step: string; readonly result: Json; readonly durationMs: number }[]
}

export type Answer = { readonly comment?: string } & (
  | { readonly approved: true; readonly params?: JsonObject }
  | { readonly approved: false }
  | { readonly value: Json }
  | { readonly choice: string; readonly artifact?: Json }
)

export type RunStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'stuck' | 'quarantined'

export interface Waiting {
  readonly kind: 'ask' | 'signal' | 'timer' | 'step' | 'child' | 'worker' | 'queue'
  readonly name: string
  readonly position: number
  readonly ask?: string
  readonly until?: string
}

/** Why a run is stuck: what the log says, what the code asked for, and where. */
export interface Stuck {
  readonly code: string
  readonly position?: number
  readonly recorded?: string
  readonly asked?: string
  readonly at?: string
  readonly triedAt?: string
}

export interface Rollback {
  readonly reason: string
  readonly undone: readonly string[]
  readonly failed: readonly { readonly name: string; readonly failure: Failure }[]
  /** Which undos did not run, and why. */
  readonly skipped?: string
}

/** How far a run is, as it says itself. */
export interface Progress {
  readonly done: number
  readonly total?: number
  readonly message?: string
}

/** A value that a run exposes. */
export interface State {
  readonly name: string
  readonly at: string
  readonly value?: Json
}

/** What a run was given, and what it has returned. */
export interface RunValues {
  readonly input?: Json
  readonly output?: Json
  /** 'input', 'output' if they are too large to be sent. */
  readonly omitted: readonly string[]
}

export interface Run {
  readonly id: string
  readonly procedure: string
  readonly version: number
  readonly status: RunStatus
  /** Grows when the run begins again under its id. */
  readonly generation: number
  readonly startedAt: string
  readonly endedAt?: string
  readonly waitingFor: readonly Waiting[]
  readonly failure?: Failure
  readonly stuck?: Stuck
  readonly tags: readonly string[]
  readonly startedBy?: string
  readonly progress?: Progress
  /** The run whose past it shares, and the position up to which. */
  readonly forkedFrom?: { readonly run: string; readonly position: number }
  /** The run that created it. */
  readonly parent?: { readonly run: string; readonly position?: number }
  readonly rollback?: Rollback
  readonly cancelRequestedAt?: string
  readonly cancelReason?: string
  readonly cancelledBy?: string
  readonly retriedBy?: string
  readonly leftOver: {
    readonly signals: readonly string[]
    readonly operations: readonly { readonly position: number; readonly name: string }[]
  }
  /** Only of one run that is asked for with its values. */
  readonly values?: RunValues
}

/** Where a fork leaves its original, and what it has different. */
export type Fork =
  | {
      readonly position: number
      /** Results to be replaced, by position. */
      readonly edit?: { readonly [position: string]: Json }
    }
  | { readonly checkpoint: string }

/** A point of a run that has an id. */
export interface Checkpoint {
  readonly id: string
  readonly position: number
  readonly name?: string
  readonly createdAt: string
}

/** What a fork or a retry keeps of a run, and what it does again. */
export interface RepeatPreview {
  /** The number of results. */
  readonly kept: number
  readonly operations: readonly RepeatedOperation[]
  /** The number of further operations. */
  readonly more: number
  readonly undone: readonly string[]
  readonly children: readonly string[]
}

export interface RepeatedOperation {
  readonly position: number
  readonly type: string
  readonly name: string
  readonly does: 'effect' | 'ask' | 'wait'
  readonly becomes: 'edited' | 'repeated' | 'depends'
}

/** A live worker. */
export interface Worker {
  readonly name: string
  readonly startedAt?: string
  readonly leaseEndsAt: string
  readonly runs: number
  readonly procedures: readonly { readonly name: string; readonly version: number }[]
}

/** Something that people are told and need not answer. */
export interface Notice {
  readonly id: string
  readonly run: string
  readonly procedure: string
  readonly kind: 'notice' | 'failed-undo'
  readonly severity: NonNullable<AskBrief['severity']>
  readonly message: string
  readonly to: readonly string[]
  readonly details: readonly { readonly title: string; readonly body?: Json; readonly as?: string }[]
  readonly links: readonly { readonly label: string; readonly url: string }[]
  readonly at: string
  /** Whether the user has read it. */
  readonly isRead: boolean
}

export interface LogEntry {
  readonly position: number
  readonly type: string
  readonly name: string
  readonly status: 'open' | 'done' | 'failed' | 'withdrawn'
  readonly result: Json
  readonly timestamp: string
  readonly duration_ms: number
  /** The last of the failed attempts that are, or were, retried. */
  readonly attempts?: readonly FailedAttempt[]
  /** The action to whose consent it belongs: its result cannot be edited. */
  readonly consent_to?: string
  /** When an open operation is retried. */
  readonly next_attempt_at?: string
}

export interface FailedAttempt {
  readonly attempt: number
  readonly timestamp: string
  readonly duration_ms: number
  readonly error: Failure
}

export interface Issue {
  readonly path: string
  readonly message: string
}

export interface Problem {
  readonly type: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly details?: {
    readonly issues?: readonly Issue[]
    readonly winner?: { readonly by: string; readonly at: string }
  }
}
