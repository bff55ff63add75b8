import type { RetryPolicy } from '../../../authoring/step/options.ts'
import type { Entropy } from '../../../ports/entropy.ts'

/** The delay between two attempts. */
export type Backoff = Pick<RetryPolicy, 'backoffMs' | 'factor' | 'maxMs' | 'jitter'>

/** Returns the delay after the failed attempt number `attempt`, in whole ms. */
export function delayBefore(
  attempt: number,
  { backoffMs, factor, maxMs, jitter }: Backoff,
  entropy: Entropy,
): number {
  // 0 × Infinity is NaN.
  const wait = backoffMs === 0 ? 0 : Math.min(maxMs, backoffMs * factor ** (attempt - 1))
  return Math.round(jitter === 'full' ? wait * entropy.random() : wait)
}
