/** Stored bytes are not a payload. Only the run they belong to is affected. */
export class PayloadCorrupt extends Error {
  constructor(reason: string) {
    super(`the payload ${reason}`)
    this.name = 'PayloadCorrupt'
  }
}

/** A stored row has a value that is impossible for its kind. */
export class RowCorrupt extends Error {
  override readonly name = 'RowCorrupt'
}

/** The log has been altered: an event is missing or changed. */
export class LogDamaged extends Error {
  override readonly name = 'LogDamaged'
}

/** Returns whether a run's own data is unreadable, as opposed to a transient error of the store. */
export function isUnread(error: unknown): error is Error {
  return (
    error instanceof PayloadCorrupt ||
    error instanceof WrittenLater ||
    error instanceof RowCorrupt ||
    error instanceof LogDamaged
  )
}

/** A later version wrote the data. It is not damaged: a later worker can read it. */
export class WrittenLater extends Error {
  override readonly name = 'WrittenLater'

  /** `what` names the data: 'the payload', 'its log'. */
  constructor(what: string) {
    super(`${what} was written by a later version`)
  }
}
