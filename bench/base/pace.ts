/** How each workload is warmed up and done: the same for Pawl and for its peers, whose processes are told. */
export interface Pace {
  /** Rounds of W1, W2 and W3 before those that are timed: V8 takes its time to compile what a process then does all its life. */
  readonly warmUps: number
  /** Calls in a round of W4, and in one of W5. One round of them is a warm-up. */
  readonly starts: number
  readonly signals: number
  /** In W5, from when a run waits until it is sent a signal. */
  readonly restMs: number
}

export const pace: Pace = { warmUps: 3, starts: 200, signals: 100, restMs: 50 }
