import { expect, test } from 'vitest'
import type { RetryPolicy } from '../../../../src/authoring/step/options.ts'
import { delayBefore } from '../../../../src/worker/activities/step/retry.ts'

const entropy = { bytes: (length: number) => new Uint8Array(length), random: () => 0.5 }
const policy: RetryPolicy = {
  attempts: 2_000,
  backoffMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: 'none',
  when: undefined,
}
const delays = (changes: Partial<RetryPolicy>, attempts: readonly number[]): readonly number[] =>
  attempts.map((attempt) => delayBefore(attempt, { ...policy, ...changes }, entropy))

test('increases the delay by the factor up to the maximum, for any number of attempts', () => {
  expect(delays({}, [1, 2, 3, 7, 1_026, 1_999])).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000])
  expect(delays({ jitter: 'full' }, [1, 2, 1_999])).toEqual([500, 1_000, 30_000])
})

test('does not delay without a backoff, for any number of attempts', () => {
  for (const jitter of ['none', 'full'] as const) {
    expect(delays({ backoffMs: 0, jitter }, [1, 2, 1_024, 1_025, 1_999])).toEqual([0, 0, 0, 0, 0])
    expect(delays({ backoffMs: 0, factor: 1_000, jitter }, [1, 103, 104, 110])).toEqual([0, 0, 0, 0])
  }
})
