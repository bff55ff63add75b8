import type { Duration } from '../../base/duration.ts'
import type { ActionClass } from '../policy/policy.ts'

/** The argument of a step body. */
export interface StepCall {
  /** Identifies this step of this run. Every attempt receives the same key; no other step of any run does. */
  readonly idempotencyKey: string
  /** Aborts when the attempt times out, when the run is cancelled or the part of it closed, and when the worker stops waiting for it. */
  readonly signal: AbortSignal
  /** Number of the attempt, starting at 1. */
  readonly attempt: number
}

/** Options for retries. The delay starts at `backoff` and grows by `factor` up to `max`. */
export interface Retry {
  /** Maximum number of attempts, including the first. Default: 3. Range: whole numbers from 1. */
  readonly attempts?: number
  /** Delay before the second attempt. Default: '1s'. */
  readonly backoff?: Duration
  /** Growth of the delay per attempt; 1 keeps it constant. Default: 2. Range: from 1 to 1000. */
  readonly factor?: number
  /** Maximum delay. Default: '1m', or the `backoff` if it is longer. */
  readonly max?: Duration
  /** Randomness of the delay: 'full' waits a random part of it, 'none' all of it. Default: 'full'. */
  readonly jitter?: 'full' | 'none'
  /** Decides whether an error is retried. Default: every error except a `FinalError`. */
  readonly when?: (error: unknown) => boolean
}

/** Options of the attempts of a step or an agent call. */
export interface AttemptOptions {
  /**
   * Retries of a failed attempt; `false` for a single attempt. Default: every option of `Retry` at its default; for
   * `ctx.agent` the `retry` of the agent, which is replaced as a whole.
   */
  readonly retry?: Retry | false
  /** Maximum duration of each attempt, from its start. Default: none; for `ctx.agent` the `timeout` of the agent. */
  readonly timeout?: Duration
}

/** The options of `ctx.step`. */
export interface StepOptions<R> extends AttemptOptions {
  /**
   * Undoes this step if the run fails or is cancelled later, or on `ctx.rollback`. It is called with the result, and retried like a
   * step. `ctx.onRollback` covers effects that may have half happened. Default: none.
   */
  readonly undo?: (result: R, call: StepCall) => unknown
  /**
   * Kinds of the action, for the `policy` of the engine. Unless it allows the step, the step fails with 'policy-refused' before
   * its body. The verdict is recorded by a step `<name> · policy`. Default: none; the policy is not asked.
   */
  readonly classes?: readonly ActionClass[]
}
