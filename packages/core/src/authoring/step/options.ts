import { checkFunction, checkObject } from '../../checks/options.ts'
import {
  milliseconds,
  number,
  oneOf,
  optional,
  type RowsOf,
  readOptions,
  readPart,
  type Spec,
  whole,
} from '../../checks/spec.ts'
import type { AttemptOptions, Retry, StepCall } from './step.ts'

/** The retry options, with defaults. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoffMs: number
  readonly factor: number
  readonly maxMs: number
  readonly jitter: 'full' | 'none'
  readonly when: ((error: unknown) => boolean) | undefined
}

/** The options of a step or an agent call, validated and with defaults. */
export interface StepPolicy {
  readonly retry: RetryPolicy
  /** The timeout of each attempt; null: none. */
  readonly timeoutMs: number | null
}

export const defaultRetry: RetryPolicy = {
  attempts: 3,
  backoffMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: 'full',
  when: undefined,
}

export const defaultPolicy: StepPolicy = { retry: defaultRetry, timeoutMs: null }

const retryOptions = {
  attempts: optional(whole(1), defaultRetry.attempts),
  backoff: optional(milliseconds, defaultRetry.backoffMs),
  factor: optional(number(1, 1_000), defaultRetry.factor),
  max: optional(milliseconds),
  jitter: optional(oneOf(['full', 'none']), defaultRetry.jitter),
  when: optional(checkFunction<RetryPolicy['when']>, undefined),
} satisfies Spec<Retry>

interface AttemptValues {
  readonly retry?: RetryPolicy
  readonly timeout?: number
}

/** The options that steps, gates, actions and agents share. */
export const attemptOptions: RowsOf<AttemptValues> = {
  retry: optional(readRetry),
  timeout: optional(milliseconds),
} satisfies Spec<AttemptOptions>

export type Undo = (result: unknown, call: StepCall) => unknown

/** Returns the policy of options that were read; omitted ones come from `defaults`. */
export function policyOf(
  { retry, timeout }: AttemptValues,
  defaults: StepPolicy = defaultPolicy,
): StepPolicy {
  return { retry: retry ?? defaults.retry, timeoutMs: timeout ?? defaults.timeoutMs }
}

/**
 * Checks the options of attempts. `of` names them in messages, such as `of task 'charge'`.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readAttemptOptions(of: string, given: unknown, defaults?: StepPolicy): StepPolicy {
  return policyOf(readOptions(of, given, attemptOptions), defaults)
}

function readRetry(option: string, given: unknown): RetryPolicy {
  if (given === false) return { ...defaultRetry, attempts: 1 }
  checkObject(option, given, 'It must be an object such as { attempts: 5 }, or false for one attempt.')
  const retry = readPart(option, given, retryOptions, `the ${option}`)
  const { attempts, backoff: backoffMs, factor, max, jitter, when } = retry
  return { attempts, backoffMs, factor, maxMs: max ?? Math.max(defaultRetry.maxMs, backoffMs), jitter, when }
}
