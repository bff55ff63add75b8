/** Stored bytes that are no payload. The run they belong to cannot be trusted; all others can. */
export class PayloadCorrupt extends Error {
  /** Whether a later version wrote them, so that a later worker can read them. */
  readonly isLater: boolean

  constructor(reason: string, isLater = false) {
    super(`the payload ${reason}`)
    this.name = 'PayloadCorrupt'
    this.isLater = isLater
  }
}
