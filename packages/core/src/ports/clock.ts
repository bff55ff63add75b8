/** Provides the engine's time; tests and simulations replace it. */
export interface Clock {
  /** Returns monotonic ms, for durations and for the time since the store last reported its own. */
  elapsed(): number
  /** Returns this machine's time in ms since 1970, which may be wrong and may go back: for ids only, never for decisions. */
  wall(): number
  /**
   * Calls back after `ms`, which may be arbitrarily long. Returns a function that cancels it.
   * `background` marks the timers of an idle process (polls, heartbeats): virtual time does not stop for them.
   */
  after(ms: number, callback: () => void, background?: boolean): () => void
}
