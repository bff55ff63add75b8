/** Time as the engine sees it; a test or a simulation brings its own. */
export interface Clock {
  /** Monotonic ms, for durations and for what has passed since the store last told its time. */
  elapsed(): number
  /** Ms since 1970 as this machine has it, which may be wrong and may go back: for ids, and for nothing that decides. */
  wall(): number
  /**
   * Calls back once, `ms` from now, however long that is. `background`: what a process does
   * that has nothing to do (polls, heartbeats); virtual time does not stop for it. Returns how to call it off.
   */
  after(ms: number, callback: () => void, background?: boolean): () => void
}
