import type { RetryPolicy } from '../../authoring/step-options.ts'
import type { Entropy } from '../../ports/entropy.ts'

/** How long to wait after the failed attempt number `attempt`, in whole ms. */
export function delayBefore(
  attempt: number,
  { backoffMs, factor, maxMs, jitter }: RetryPolicy,
  entropy: Entropy,
): number {
  const wait = Math.min(maxMs, backoffMs * factor ** (attempt - 1))
  return Math.round(jitter === 'full' ? wait * entropy.random() : wait)
}
