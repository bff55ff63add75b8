import type { Duration } from '../../base/duration.ts'

/** What the body of a step receives. */
export interface StepCall {
  /** Identifies this step of this run. Every attempt receives the same key; no other step of any run does. */
  readonly idempotencyKey: string
  /** Aborts when the attempt times out, and when the worker stops waiting for it. */
  readonly signal: AbortSignal
  /** Number of the attempt, starting at 1. */
  readonly attempt: number
}

/** When a failed attempt is followed by another. The wait starts at `backoff` and grows by `factor` up to `max`. */
export interface Retry {
  /** Maximum number of attempts, including the first. Default: 3. Range: whole numbers from 1. */
  readonly attempts?: number
  /** Wait before the second attempt. Default: '1s'. */
  readonly backoff?: Duration
  /** Growth from one wait to the next; 1 keeps it constant. Default: 2. Range: from 1 to 1000. */
  readonly factor?: number
  /** Maximum wait. Default: '1m', or the `backoff` if it is longer. */
  readonly max?: Duration
  /** Randomness of the wait: 'full' waits a random part of it, 'none' all of it. Default: 'full'. */
  readonly jitter?: 'full' | 'none'
  /** Decides whether an error is worth another attempt. Default: every error except a `FinalError` is. */
  readonly when?: (error: unknown) => boolean
}

// biome-ignore lint/correctness/noUnusedVariables: later options see the result
export interface StepOptions<R> {
  /**
   * When a failed attempt is followed by another; `false` for a single attempt. Default: every option of `Retry` at its
   * default; for `ctx.agent` the `retry` of the agent, which a given one replaces as a whole.
   */
  readonly retry?: Retry | false
  /** Maximum duration of each attempt, from its start. Default: none; for `ctx.agent` the `timeout` of the agent. */
  readonly timeout?: Duration
}
