import { nowMs } from './clock.ts'

/** Warm-up and size of each workload, the same for Pawl and its peers. */
export interface Pace {
  /** Warm-up of W1 to W5, in ms: V8 needs time to compile the code. */
  readonly warmUpMs: number
  /** Calls in a round of W4, and in one of W5. */
  readonly starts: number
  readonly signals: number
  /** Delay in W5 between the wait of a run and its signal. */
  readonly restMs: number
}

export const pace: Pace = { warmUpMs: 3_000, starts: 200, signals: 100, restMs: 50 }

/** Runs rounds until warm, at least one. */
export async function warmUp(round: () => Promise<unknown>, forMs: number = pace.warmUpMs): Promise<void> {
  const until = nowMs() + forMs
  do await round()
  while (nowMs() < until)
}
