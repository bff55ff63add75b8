import { nowMs } from './clock.ts'

/** How each workload is warmed up and done: the same for Pawl and for its peers, whose processes are told. */
export interface Pace {
  /** So long W1 to W5 are done before they are timed: V8 takes its time to compile what a process then does all its life. */
  readonly warmUpMs: number
  /** Calls in a round of W4, and in one of W5. */
  readonly starts: number
  readonly signals: number
  /** In W5, from when a run waits until it is sent a signal. */
  readonly restMs: number
}

export const pace: Pace = { warmUpMs: 3_000, starts: 200, signals: 100, restMs: 50 }

/** Does rounds until it is warm, and at least one. */
export async function warmUp(round: () => Promise<unknown>, forMs: number = pace.warmUpMs): Promise<void> {
  const until = nowMs() + forMs
  do await round()
  while (nowMs() < until)
}
