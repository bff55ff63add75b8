/**
 * Whose turn it is. One run at a time in the whole process: while a turn lasts, `current` names its owner;
 * between turns it is null. The guard, the shield and every operation issued compare themselves with it.
 */
export interface Turns {
  current: TurnOwner | null
  /** An exception has left the turn, and with it the rest of its queues until the next macrotask. */
  broken: boolean
}

/** What the host may ask of, or tell, the run whose turn it is. */
export interface TurnOwner {
  /** The id of the run, for messages. */
  readonly id: string
  /** What Date, Math.random and their like do in its turns; see host/guard. */
  readonly determinism: 'virtual' | 'error' | 'off'
  /** The time of the event that began this turn, in ms since 1970. */
  now(): number
  /** In [0, 1), from the run's recorded seed. */
  random(): number
  /** A v4 UUID from the same seed. */
  uuid(): string
  /** An exception nobody caught: the continuation cannot be trusted any more. */
  onEscaped(error: unknown): void
  /** A rejection nobody has handled yet. It never alters the outcome of the run. */
  onUnhandled(promise: object, reason: unknown): void
  /** That rejection was handled after all. */
  onHandled(promise: object): void
  /**
   * A timer of the host was set in the turn, by the named API; named if the run turns out to wait for it. `site`: looks up
   * where it was set. Returns what to call when it fires.
   */
  onTimer(api: string, site: () => string | undefined): () => void
}
