import type { OperationKind } from '../events/event.ts'
import type { TraceContext } from '../events/payloads.ts'

/**
 * Receives what an engine or a client does, for traces and metrics. Nothing is reported twice: attempts of bodies, asks and
 * ends are reported by the worker whose write was acknowledged, and a replay reports nothing. A crash can lose a report.
 * Errors that it throws, or with which a promise that it returns rejects, are logged once and have no other effect. Pass it as
 * `observe` to engines and clients.
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
  /** The method of the client, of a run, or of its inbox and checkpoints, such as 'run', 'signal' or 'checkpoints.create'. */
  readonly verb: ObservedVerb
  /** Id of the run; undefined if the caller did not name it. */
  readonly run: string | undefined
  /** Name of the procedure; undefined if the caller does not know it. */
  readonly procedure: string | undefined
  /** Who makes it; undefined if the caller did not say so, and for every 'signal', of which the log of the run says who sent it. */
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
  /** Called when the call has returned. `run` is the run that it has started; `isNew`: it did not exist before. */
  done(outcome: { readonly run?: string; readonly isNew?: boolean }): void
  /** Called when the call has failed. */
  failed(error: unknown): void
}

/** A run, as its reports name it. */
export interface ObservedRun {
  /** Id of the run. */
  readonly run: string
  /** Name of the procedure. */
  readonly procedure: string
  /** The trace of the call that started it, or that of its parent. */
  readonly trace: TraceContext | undefined
}

/** An attempt of the code of a step, an agent or an undo. */
export interface ObservedAttempt extends ObservedRun {
  /** Kind of the operation, such as 'step' or 'llm', as the execution log has it. */
  readonly kind: OperationKind
  /** Name of the operation. */
  readonly name: string
  /** Position of the operation in the log. */
  readonly position: number
  /** Number of the attempt, from 1. */
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
  /** How long the attempt took, in ms. */
  readonly tookMs: number
  /** Why the attempt failed; undefined if it succeeded. */
  readonly failure: ObservedFailure | undefined
  /** Whether the attempt failed and another one follows. */
  readonly isRetried: boolean
  /** What an agent has reported with `call.usage`. */
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
  /** Kind of the operation, such as 'hitl_approval', as the execution log has it. */
  readonly kind: OperationKind
  /** Position of the ask in the log. */
  readonly position: number
  /** How the ask closed. */
  readonly outcome: 'answered' | 'timed-out' | 'withdrawn' | 'failed'
  /** When it was opened, by the store's clock, in ms since 1970. */
  readonly openedAt: number
  /** When it closed, by the store's clock, in ms since 1970. */
  readonly closedAt: number
}

/** The end of a run. */
export interface ObservedEnd extends ObservedRun {
  /** How the run ended. */
  readonly status: 'completed' | 'failed' | 'cancelled'
  /** Why the run failed; undefined if it did not. */
  readonly failure: ObservedFailure | undefined
  /** When the run was started, by the store's clock, in ms since 1970. */
  readonly startedAt: number
  /** When the run ended, by the store's clock, in ms since 1970. */
  readonly endedAt: number
}

/** A committed transaction. */
export interface ObservedCommit {
  /** The number of runs that were written. */
  readonly runs: number
  /** The number of events that were written. */
  readonly events: number
}

/** A started engine. */
export interface ObservedEngine {
  /** Reads figures of the whole store. */
  readHealth(): Promise<{ readonly openAsks: number; readonly oldestDueMs: number }>
}
