/**
 * The current turn. One run at a time has the turn in the whole process: `current` is its owner, and null between turns.
 * The guard, the shield and every issued operation check it.
 */
export interface Turns {
  current: TurnOwner | null
  /** An exception has escaped the turn, and postponed the rest of its queues until the next macrotask. */
  broken: boolean
}

/** The run that has the turn, as the host uses it. */
export interface TurnOwner {
  /** The id of the run, for messages. */
  readonly id: string
  /** The behaviour of Date, Math.random and similar functions in its turns; see host/guard. */
  readonly determinism: 'virtual' | 'error' | 'off'
  /** What the libraries in use know about calls that a procedure cannot make. Errors about such calls contain it. */
  advice?: Set<string>
  /** The time of the event that began this turn, in ms since 1970. */
  now(): number
  /** Returns a number in [0, 1), from the run's recorded seed. */
  random(): number
  /** Returns a v4 UUID from the same seed. */
  uuid(): string
  /** Called for an uncaught exception, after which the execution cannot be trusted. */
  onEscaped(error: unknown): void
  /** Called for an unhandled rejection. It never changes the outcome of the run. */
  onUnhandled(promise: object, reason: unknown): void
  /** Called when that rejection is handled later. */
  onHandled(promise: object): void
  /**
   * Called when a host timer is set in the turn. `api` is named if the run turns out to wait for the timer; `site` finds
   * where it was set. Returns a function to call when the timer fires.
   */
  onTimer(api: string, site: () => string | undefined): () => void
}
