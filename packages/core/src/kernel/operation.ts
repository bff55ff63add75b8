import type { LogEvent, OperationKind } from '../events/event.ts'
import type { Closing, Scope } from './scope.ts'

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
export type Program<O extends Operation = Operation> = (issue: Issue<O>, scopes: Scopes<O>) => unknown

/** What a program does with its scopes; see {@link Scope}. All of it belongs to the run's own turns. */
export interface Scopes<O extends Operation = Operation> {
  /** The scope of the program itself. A cancel closes it. */
  readonly root: Scope
  /** Issues an operation in a scope. One that is closed takes no position and is rejected in a later turn. */
  issueIn(scope: Scope, operation: O): Promise<unknown>
  /** Closes scopes, in this very turn. What is pending in them is rejected in later ones, in order of identity. */
  close(scopes: readonly Scope[], error: () => unknown): void
  /** Returns why an operation issued in a scope now takes no position; null if it takes one. */
  refusalOf(scope: Scope): Closing | null
  /** Moves a pending operation into another scope: 'elsewhere' if it is not one of `from`, 'none' if it is none. */
  adopt(promise: Promise<unknown>, from: Scope, to: Scope): 'adopted' | 'elsewhere' | 'none'
  /** Makes a scope that no closing around it reaches; a program that has returned is awaited until it is over. */
  openShield(parent: Scope): Scope
  closeShield(scope: Scope): void
  /** Calls back when an end is forced: what the program goes on with belongs to a scope outside `root`. Otherwise it fails. */
  onForced(callback: (error: unknown) => void): void
}

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
  /** A race that it is a branch of moves it into one of its own. */
  scope: Scope
  /** What the procedure was given. A map from it to the operation would make each issue ten times slower. */
  promise: Promise<unknown> | null
}

/** Thrown by `Operation.read` when the recorded bytes cannot be understood. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
