/** Stored bytes that are no payload. The run they belong to cannot be trusted; all others can. */
export class PayloadCorrupt extends Error {
  constructor(reason: string) {
    super(`the payload ${reason}`)
    this.name = 'PayloadCorrupt'
  }
}

/** A stored row has a value that no row of its kind can have. */
export class RowCorrupt extends Error {
  override readonly name = 'RowCorrupt'
}

/** The log is not what was written: an event is missing or altered. */
export class LogDamaged extends Error {
  override readonly name = 'LogDamaged'
}

/** Whether a run's own data cannot be read: no fault of the store, which would pass. */
export function isUnread(error: unknown): error is Error {
  return (
    error instanceof PayloadCorrupt ||
    error instanceof WrittenLater ||
    error instanceof RowCorrupt ||
    error instanceof LogDamaged
  )
}

/** What a later version wrote is no damage: a later worker can read it. */
export class WrittenLater extends Error {
  override readonly name = 'WrittenLater'

  /** `what` it is: 'the payload', 'its log'. */
  constructor(what: string) {
    super(`${what} was written by a later version`)
  }
}
