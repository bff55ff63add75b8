import { parseDuration } from '../../checks/duration.ts'
import {
  checkFunction,
  checkKeys,
  checkNumber,
  checkObject,
  checkOneOf,
  checkWhole,
} from '../../checks/options.ts'

import type { StepCall } from './step.ts'

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

/**
 * Checks the options of a step. `of` names it in messages (`of step 'charge'`); omitted options come from `defaults`.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readStepOptions(
  of: string,
  given: unknown,
  defaults: StepPolicy = defaultPolicy,
  others: readonly string[] = [],
): StepPolicy {
  if (given === undefined) return defaults
  const options = checkObject(`options ${of}`, given)
  checkKeys(`the options ${of}`, options, ['retry', 'timeout', ...others])
  const { retry, timeout } = options
  return {
    retry: retry === undefined ? defaults.retry : readRetry(of, retry),
    timeoutMs: timeout === undefined ? defaults.timeoutMs : parseDuration(timeout, `timeout ${of}`),
  }
}

/** Returns the `undo` of the options of a step. */
export function readUndo(of: string, given: unknown): Undo | undefined {
  const { undo } = checkObject(`options ${of}`, given)
  if (undo !== undefined) checkFunction(`undo ${of}`, undo)
  return undo as Undo | undefined
}

export type Undo = (result: unknown, call: StepCall) => unknown

function readRetry(of: string, given: unknown): RetryPolicy {
  if (given === false) return { ...defaultRetry, attempts: 1 }
  const allowed = 'It must be an object such as { attempts: 5 }, or false for one attempt.'
  const retry = checkObject(`retry ${of}`, given, allowed)
  checkKeys(`the retry ${of}`, retry, ['attempts', 'backoff', 'factor', 'max', 'jitter', 'when'])
  const { attempts, backoff, factor, max, jitter, when } = retry
  if (when !== undefined) checkFunction(`retry.when ${of}`, when)
  const backoffMs =
    backoff === undefined ? defaultRetry.backoffMs : parseDuration(backoff, `retry.backoff ${of}`)
  return {
    attempts:
      attempts === undefined
        ? defaultRetry.attempts
        : checkWhole(`retry.attempts ${of}`, attempts, 1, Number.MAX_SAFE_INTEGER),
    backoffMs,
    factor: factor === undefined ? defaultRetry.factor : checkNumber(`retry.factor ${of}`, factor, 1, 1_000),
    maxMs:
      max === undefined ? Math.max(defaultRetry.maxMs, backoffMs) : parseDuration(max, `retry.max ${of}`),
    jitter:
      jitter === undefined ? defaultRetry.jitter : checkOneOf(`retry.jitter ${of}`, jitter, ['full', 'none']),
    when: when as RetryPolicy['when'],
  }
}
