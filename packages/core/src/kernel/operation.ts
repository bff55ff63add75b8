import type { LogEvent, OperationKind } from '../events/event.ts'

/** One thing a procedure asks of the outside. The kernel knows what it is called, not what it means. */
export interface Operation {
  readonly kind: OperationKind
  readonly name: string
  /**
   * Makes what the procedure receives, afresh from the recorded bytes, at every delivery. A throw rejects
   * the operation's promise; throwing {@link Unreadable} stops the execution.
   */
  read(event: LogEvent): unknown
}

/** Asks for an operation: takes a position at once and returns a plain promise that settles by an event. */
export type Issue<O extends Operation = Operation> = (operation: O) => Promise<unknown>

/** What the kernel runs. It knows nothing of `ctx`. */
export type Program<O extends Operation = Operation> = (issue: Issue<O>) => unknown

/** An operation that was issued and has no result yet. */
export interface Pending<O extends Operation = Operation> {
  /** Swapped with another of the same turn when the log says that they changed places. */
  position: number
  readonly turn: number
  readonly nth: number
  readonly operation: O
  /** The time of the turn it was issued in; deadlines count from here. */
  readonly issuedAt: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Thrown by `Operation.read` when the recorded bytes cannot be understood. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
