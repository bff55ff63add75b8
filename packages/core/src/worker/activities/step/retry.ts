import type { RetryPolicy } from '../../../authoring/step/options.ts'
import type { Entropy } from '../../../ports/entropy.ts'

/** How long to wait between two attempts. */
export type Backoff = Pick<RetryPolicy, 'backoffMs' | 'factor' | 'maxMs' | 'jitter'>

/** How long to wait after the failed attempt number `attempt`, in whole ms. */
export function delayBefore(
  attempt: number,
  { backoffMs, factor, maxMs, jitter }: Backoff,
  entropy: Entropy,
): number {
  // Grown beyond all bounds it would be infinite, and no wait times that not a number.
  const wait = backoffMs === 0 ? 0 : Math.min(maxMs, backoffMs * factor ** (attempt - 1))
  return Math.round(jitter === 'full' ? wait * entropy.random() : wait)
}
