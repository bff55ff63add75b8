/** The kinds of operations, as named in the log, the tables and the execution log. */
export const operationKinds = [
  'step',
  'llm',
  'timer',
  'signal',
  'hitl_approval',
  'hitl_input',
  'hitl_select',
  'hitl_review',
  'hitl_escalation',
  'hitl_notification',
  'ail_decision',
  'undo',
  'child',
  'spawn',
  'result',
  'send',
  'update',
  'reply',
  'checkpoint',
] as const

/** The name of a decision without a key. It identifies the operation in every log; people see the question. */
export const unnamedDecision = 'decide'

/** A kind of operation. */
export type OperationKind = (typeof operationKinds)[number]

/**
 * The types of events. Stores keep the index in this list: append only.
 * - `asked`, `attempted`, `withdrawn` and `created` (a child exists) settle nothing and start no turn.
 * - `settled` is the result or failure of a position.
 * - `marked` records the branch of a change of the code, named by the event; see `ctx.version`.
 * - `accepted` holds the validated input if the starter did not have the schema.
 */
export const eventTypes = [
  'started',
  'asked',
  'attempted',
  'settled',
  'withdrawn',
  'cancelled',
  'ended',
  'accepted',
  'created',
  'marked',
] as const

/** A type of event. */
export type EventType = (typeof eventTypes)[number]

/** The position of an event of the run itself. */
export const noPosition = -1

/**
 * An immutable event of a run's log, before it is written.
 * It is identified by its position. Turn, kind, name and the index within these identify the operation as well, so
 * that it is recognized after a harmless edit has moved it.
 */
export interface NewEvent {
  readonly type: EventType
  /** The ordinal of the operation in its run, or `noPosition`. */
  readonly position: number
  /** The number of settling events delivered before the operation was issued. */
  readonly turn: number
  /** Null for an event of the run itself. */
  readonly kind: OperationKind | null
  readonly name: string
  /** Index among the operations of the same kind and name in this turn, from 0. */
  readonly nth: number
  /** Whether a `settled` or `ended` is a failure. */
  readonly failed: boolean
  /** Duration in ms; null if it is meaningless. */
  readonly tookMs: number | null
  readonly payload: Uint8Array | null
}

/** An event as stored. */
export interface LogEvent extends NewEvent {
  /** Sequence number in the run, without gaps, from 0. */
  readonly seq: number
  /** The store's time of the commit, in ms since 1970. */
  readonly at: number
  /** The epoch of the owner that wrote it; 0 for the first event of a run created without an owner. */
  readonly epoch: number
  /** The seal over the 64 events that end here; null for all other events. */
  readonly link: Uint8Array | null
}

/**
 * An event as a store returns it, before its log is verified.
 * A number represents a type or a kind that this version does not know.
 */
export interface StoredEvent extends Omit<LogEvent, 'type' | 'kind'> {
  readonly type: EventType | number
  readonly kind: OperationKind | number | null
}

/** An event being written; the fields that the store assigns are filled in afterwards. */
export type WrittenEvent = { -readonly [K in keyof LogEvent]: LogEvent[K] }
