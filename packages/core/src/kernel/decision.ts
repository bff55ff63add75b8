import type { Operation, Pending } from './operation.ts'

/** What a run wants, once every event is delivered and its queues are drained. A value, never a throw. */
export type Decision<O extends Operation = Operation> = Waiting<O> | Completed<O> | Failed<O> | Verdict

/** Why the continuation cannot go on from this log. It writes nothing any more. */
export type Verdict = Nondeterminism | ForeignAwait | UnreadableEvent | DamagedLog

/** It waits for operations; `issued` are new since the last decision. */
export interface Waiting<O extends Operation = Operation> {
  readonly state: 'waiting'
  readonly issued: readonly Pending<O>[]
  /** No longer pending since then, by no event: their scope was closed. The last decision need not have told of them. */
  readonly closed: readonly Pending<O>[]
}

/** The procedure has returned. What it left pending is never started, or not waited for. */
export interface Completed<O extends Operation = Operation> {
  readonly state: 'completed'
  readonly output: unknown
  readonly left: readonly Pending<O>[]
  /** As of {@link Waiting}. */
  readonly closed: readonly Pending<O>[]
}

/** The procedure has thrown, or let an exception escape. */
export interface Failed<O extends Operation = Operation> {
  readonly state: 'failed'
  readonly error: unknown
  /** The operation whose recorded failure it is; null if the procedure has thrown it. */
  readonly position: number | null
  readonly left: readonly Pending<O>[]
  readonly closed: readonly Pending<O>[]
}

/** The code no longer matches the log: both sides, and where. */
export interface Nondeterminism {
  readonly state: 'nondeterminism'
  readonly position: number
  readonly recorded: string
  readonly asked: string
  /** What it failed with, where its failure is what the log does not have. */
  readonly thrown?: { readonly error: unknown }
}

/** The procedure waits for, or was moved by, something outside `ctx`. */
export interface ForeignAwait {
  readonly state: 'foreign-await'
  /** The last operation before it, and its position: `noPosition` if there is none. */
  readonly after: string
  readonly position: number
  readonly what: string
}

/** Recorded bytes cannot be understood. */
export interface UnreadableEvent {
  readonly state: 'unreadable'
  readonly position: number
  readonly error: Error
}

/** The events are in an order that no run writes. */
export interface DamagedLog {
  readonly state: 'damaged'
  readonly what: string
}
