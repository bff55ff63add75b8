import type { LogEvent, OperationKind } from '../events/event.ts'
import type { Closing, Scope } from './scope.ts'

/** A request of a procedure to the outside world. The kernel knows its name, not its meaning. */
export interface Operation {
  readonly kind: OperationKind
  readonly name: string
  /** Set if the run is not kept alive by it: a run that waits for nothing else awaits something that is in no log. */
  readonly isPassive?: true | undefined
  /**
   * Decodes the recorded result into a new value, on every delivery. An error that it throws rejects the operation's
   * promise; {@link Unreadable} stops the execution.
   */
  read(event: LogEvent): unknown
  /**
   * Reads a successful result that the log has although the scope of the operation was closed before its delivery. The
   * promise was rejected. Throws {@link Unreadable} if the bytes cannot be decoded.
   */
  readonly readLate?: ((event: LogEvent) => void) | undefined
}

/** Issues an operation: takes a position synchronously and returns a plain promise that an event settles. */
export type Issue<O extends Operation = Operation> = (operation: O) => Promise<unknown>

/** The program that the kernel runs. It does not depend on `ctx`. */
export type Program<O extends Operation = Operation> = (issue: Issue<O>, scopes: Scopes<O>) => unknown

/** The operations on scopes; see {@link Scope}. All of them belong to the run's own turns. */
export interface Scopes<O extends Operation = Operation> {
  /** The scope of the program itself, closed by a cancel. */
  readonly root: Scope
  /** Issues an operation in a scope. In a closed scope it takes no position and is rejected in a later turn. */
  issueIn(scope: Scope, operation: O): Promise<unknown>
  /** Closes scopes in the current turn. Their pending operations are rejected in later turns, in order of identity. */
  close(scopes: readonly Scope[], error: () => unknown): void
  /** Returns why an operation issued in a scope takes no position; null if it takes one. */
  refusalOf(scope: Scope): Closing | null
  /** Moves a pending operation to another scope: 'elsewhere' if it is not in one of `from`, 'none' if it is not an operation. */
  adopt(promise: Promise<unknown>, from: Scope, to: Scope): 'adopted' | 'elsewhere' | 'none'
  /** Opens a scope that is not closed with the scopes around it; the run does not end until it is over. */
  openShield(parent: Scope): Scope
  closeShield(scope: Scope): void
  /** Whether rejections of closed operations are still to be delivered: the procedure may handle them. */
  readonly isRejecting: boolean
  /** Whether a shield is open, or the log may yet have a result that {@link Operation.readLate} reads. */
  readonly isUnsettled: boolean
  /** The promises of the pending operations whose results {@link Operation.readLate} would read. */
  readonly undoable: readonly Promise<unknown>[]
  /**
   * Calls back in a turn of its own, once the operations of closed scopes are rejected and the results that the log has of
   * them are read; with `awaitsShields` also once no shield is open, which begins the grace.
   */
  whenQuiet(awaitsShields: boolean, callback: () => void): void
  /** Calls back when an end is forced, so that the program can continue in a scope outside `root`. Otherwise it fails. */
  onForced(callback: (error: unknown) => void): void
}

/** An issued operation without a result. */
export interface Pending<O extends Operation = Operation> {
  /** Swapped with another of the same turn if the log shows that they changed places. */
  position: number
  readonly turn: number
  readonly nth: number
  readonly operation: O
  /** The time of the turn in which it was issued; deadlines count from here. */
  readonly issuedAt: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** The scope; a race with this operation as a branch moves it to a separate one. */
  scope: Scope
  /** The promise of the procedure. A map from promises to operations would make each issue ten times slower. */
  promise: Promise<unknown> | null
}

/** Thrown by `Operation.read` if the recorded bytes cannot be decoded. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
