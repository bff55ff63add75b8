import type { OperationKind } from '../events/event.ts'
import type { TraceContext } from '../events/payloads.ts'

/**
 * Receives what an engine or a client does, for traces and metrics. Nothing is reported twice: attempts of bodies, asks and
 * ends are reported by the worker whose write was acknowledged, and a replay reports nothing. A crash can lose a report.
 * Errors that it throws, or with which a promise that it returns rejects, are logged once and have no other effect.
 */
export interface Observer {
  /** Called before a caller does something to a run, or reads all of it with `export`. */
  called(call: ObservedCall): CallObservation
  /** Called before an attempt of a body. */
  attempted(attempt: ObservedAttempt): AttemptObservation
  /** Called when a run has created a child. */
  created(child: { readonly procedure: string }): void
  /** Called when an ask has closed. */
  closed(ask: ObservedAsk): void
  /** Called when a run has ended. */
  ended(end: ObservedEnd): void
  /** Called when a transaction was committed. */
  committed(commit: ObservedCommit): void
  /** Called when an engine has started. Returns a function that is called when it stops. */
  attached(engine: ObservedEngine): () => void
}

/** A call of a client. */
export interface ObservedCall {
  /** The method of the client, of a run, or of its inbox and checkpoints. */
  readonly verb: ObservedVerb
  /** Undefined if the caller did not name it. */
  readonly run: string | undefined
  /** Undefined if the caller does not know it. */
  readonly procedure: string | undefined
  /** Who makes it. Undefined if the caller did not say so; the log of the run has who sent a signal. */
  readonly by: string | undefined
}

/** What a caller does. */
export type ObservedVerb =
  | 'run'
  | 'signal'
  | 'answer'
  | 'update'
  | 'cancel'
  | 'retry'
  | 'fork'
  | 'delete'
  | 'export'
  | 'import'
  | 'checkpoints.create'
  | 'checkpoints.delete'
  | 'checkpoints.cleanup'

/** Receives the outcome of a call. */
export interface CallObservation {
  /** Kept with a run that the call starts; its attempts, asks and end refer to it. */
  readonly trace?: TraceContext | undefined
  /** `isNew`: the call has started a run that did not exist. */
  done(outcome: { readonly run?: string; readonly isNew?: boolean }): void
  failed(error: unknown): void
}

/** A run, as its reports name it. */
export interface ObservedRun {
  readonly run: string
  readonly procedure: string
  /** That of the call that started it, or that of its parent. */
  readonly trace: TraceContext | undefined
}

/** An attempt of the code of a step, an agent or an undo. */
export interface ObservedAttempt extends ObservedRun {
  readonly kind: OperationKind
  readonly name: string
  readonly position: number
  /** From 1. */
  readonly number: number
}

/** Runs an attempt and receives its outcome. */
export interface AttemptObservation {
  /** Calls the body once, and returns what it returns. */
  run<Result>(body: () => Result): Result
  /** Called when the outcome is in the log. Never called if it was not recorded. */
  recorded(outcome: AttemptReport): void
}

/** The recorded outcome of an attempt. */
export interface AttemptReport {
  readonly tookMs: number
  /** Undefined if it succeeded. */
  readonly failure: ObservedFailure | undefined
  readonly isRetried: boolean
  readonly usage: readonly Readonly<Record<string, unknown>>[]
  /** Decodes the recorded result. */
  readonly result: () => unknown
}

/** An error as the log stores it. */
export interface ObservedFailure {
  readonly name: string
  readonly code?: string | undefined
  /** May contain data of the run. */
  readonly message: string
}

/** An ask that has closed. */
export interface ObservedAsk extends ObservedRun {
  readonly kind: OperationKind
  readonly position: number
  readonly outcome: 'answered' | 'timed-out' | 'withdrawn' | 'failed'
  /** By the store's clock, in ms since 1970. */
  readonly openedAt: number
  readonly closedAt: number
}

/** The end of a run. */
export interface ObservedEnd extends ObservedRun {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly failure: ObservedFailure | undefined
  /** By the store's clock, in ms since 1970. */
  readonly startedAt: number
  readonly endedAt: number
}

/** A committed transaction. */
export interface ObservedCommit {
  /** The number of runs that were written. */
  readonly runs: number
  readonly events: number
}

/** A started engine. */
export interface ObservedEngine {
  /** Reads figures of the whole store. */
  readHealth(): Promise<{ readonly openAsks: number; readonly oldestDueMs: number }>
}
