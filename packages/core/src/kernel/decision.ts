import type { Operation, Pending } from './operation.ts'

/** The state of a run once every event is delivered and its queues are drained. A value, never a throw. */
export type Decision<O extends Operation = Operation> = Waiting<O> | Completed<O> | Failed<O> | Verdict

/** Why the execution cannot continue with this log. It writes nothing further. */
export type Verdict = Nondeterminism | ForeignAwait | UnreadableEvent | DamagedLog | Stopped

/** The run waits for operations; `issued` are new since the last decision. */
export interface Waiting<O extends Operation = Operation> {
  readonly state: 'waiting'
  readonly issued: readonly Pending<O>[]
  /** No longer pending since then, without an event: their scope was closed. The last decision may not have listed them. */
  readonly closed: readonly Pending<O>[]
}

/** The procedure has returned. Pending operations are never started, or no longer awaited. */
export interface Completed<O extends Operation = Operation> {
  readonly state: 'completed'
  readonly output: unknown
  readonly left: readonly Pending<O>[]
  /** See {@link Waiting}. */
  readonly closed: readonly Pending<O>[]
}

/** The procedure has thrown, or an exception escaped it. */
export interface Failed<O extends Operation = Operation> {
  readonly state: 'failed'
  readonly error: unknown
  /** The operation whose recorded failure this is; null if the procedure threw its own error. */
  readonly position: number | null
  readonly left: readonly Pending<O>[]
  readonly closed: readonly Pending<O>[]
}

/** The code no longer matches the log. Holds both operations and their position. */
export interface Nondeterminism {
  readonly state: 'nondeterminism'
  readonly position: number
  readonly recorded: string
  readonly asked: string
  /** The error of the procedure, if its failure is what the log does not contain. */
  readonly thrown?: { readonly error: unknown }
}

/** The procedure waits for, or was resumed by, something outside `ctx`. */
export interface ForeignAwait {
  readonly state: 'foreign-await'
  /** The last operation before it, and its position: `noPosition` if there is none. */
  readonly after: string
  readonly position: number
  readonly what: string
}

/** Recorded bytes cannot be decoded. */
export interface UnreadableEvent {
  readonly state: 'unreadable'
  readonly position: number
  readonly error: Error
}

/** The context of the procedure found that the code cannot continue this log. */
export interface Stopped {
  readonly state: 'stopped'
  readonly error: unknown
}

/** The events are in an order that no run writes. */
export interface DamagedLog {
  readonly state: 'damaged'
  readonly what: string
}
