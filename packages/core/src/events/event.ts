/** What an operation is; the same words in the log, the tables and the execution log. */
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
] as const
export type OperationKind = (typeof operationKinds)[number]

/**
 * What can have happened to a run. `asked`, `attempted` and `withdrawn` settle nothing and start no turn;
 * `settled` is a position's result or failure; `accepted` has what the schema made of an input that whoever started
 * the run could not check. Stores keep the place in this list: append to it.
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
] as const
export type EventType = (typeof eventTypes)[number]

/** The position of an event that belongs to the run and to no operation. */
export const noPosition = -1

/**
 * An immutable fact of a run's log, before it is written. Its identity is the position, and beside it the
 * turn, kind, name and the how-manieth of that kind and name in the turn, so that an operation is
 * recognised by what it is where a harmless edit moved it.
 */
export interface NewEvent {
  readonly type: EventType
  /** The ordinal of the operation in its run, or `noPosition`. */
  readonly position: number
  /** How many settling events had been delivered when the operation was issued. */
  readonly turn: number
  /** Null for an event of the run itself. */
  readonly kind: OperationKind | null
  readonly name: string
  /** The how-manieth operation of that kind and name in its turn, from 0. */
  readonly nth: number
  /** Whether a `settled` or `ended` is a failure. */
  readonly failed: boolean
  /** How long it took, in ms; null where that says nothing. */
  readonly tookMs: number | null
  readonly payload: Uint8Array | null
}

/** An event as the store keeps it. */
export interface LogEvent extends NewEvent {
  /** Dense per run, starting at 0. */
  readonly seq: number
  /** The store's clock at the commit, in ms since 1970. */
  readonly at: number
  /** The epoch of the owner that wrote it; 0 for the first event of a run that nobody owned yet. */
  readonly epoch: number
  /** The seal over the 64 events that end here; null for all others. */
  readonly link: Uint8Array | null
}

/**
 * An event as a store returns it, before its log is verified. A number stands for a type or a kind that this version
 * does not know.
 */
export interface StoredEvent extends Omit<LogEvent, 'type' | 'kind'> {
  readonly type: EventType | number
  readonly kind: OperationKind | number | null
}

/** An event on its way into the log: what the store adds is filled in once it is there. */
export type WrittenEvent = { -readonly [K in keyof LogEvent]: LogEvent[K] }
