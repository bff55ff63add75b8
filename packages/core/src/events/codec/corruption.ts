/** Stored bytes that are no payload. The run they belong to cannot be trusted; all others can. */
export class PayloadCorrupt extends Error {
  constructor(reason: string) {
    super(`the payload ${reason}`)
    this.name = 'PayloadCorrupt'
  }
}

/** Whether a run's own data cannot be read: no fault of the store, which would pass. */
export function isUnread(error: unknown): error is Error {
  return error instanceof PayloadCorrupt || error instanceof WrittenLater
}

/** What a later version wrote is no damage: a later worker can read it. */
export class WrittenLater extends Error {
  override readonly name = 'WrittenLater'

  /** `what` it is: 'the payload', 'its log'. */
  constructor(what: string) {
    super(`${what} was written by a later version`)
  }
}
