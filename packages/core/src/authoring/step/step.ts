import type { Duration } from '../../base/duration.ts'

/** What a step's body is given. */
export interface StepCall {
  /** The same for every attempt of this step, and for no other step of any run. */
  readonly idempotencyKey: string
  /** Aborts when the attempt times out, and when this worker may not or will not wait for it any longer. */
  readonly signal: AbortSignal
  /** 1, 2, 3 … */
  readonly attempt: number
}

export interface Retry {
  /** Including the first. A whole number from 1. Default 3. */
  readonly attempts?: number
  /** Before the second attempt. Default '1s'. */
  readonly backoff?: Duration
  /** Growth from one wait to the next. From 1 to 1,000. Default 2; 1 keeps it even. */
  readonly factor?: number
  /** Longest wait. Default '1m', or the backoff where that is longer. */
  readonly max?: Duration
  /** Default 'full': a random part of the wait. */
  readonly jitter?: 'full' | 'none'
  /** `false` ends the retries. Default: everything but a `FinalError`. */
  readonly when?: (error: unknown) => boolean
}

// biome-ignore lint/correctness/noUnusedVariables: later options see the result
export interface StepOptions<R> {
  /**
   * `false` for a single attempt. Default: three, as `Retry` says; for `ctx.agent` what its agent says, which is replaced
   * as a whole.
   */
  readonly retry?: Retry | false
  /** For each attempt, from its start. Default: none. */
  readonly timeout?: Duration
}
