import type { Usage } from '../../authoring/agent.ts'
import type { RetryPolicy } from '../../authoring/step-options.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { AttemptedPayload } from '../../events/payloads.ts'
import type { Entropy } from '../../ports/entropy.ts'

/** How long to wait after the failed attempt number `attempt`, in whole ms. */
export function delayBefore(
  attempt: number,
  { backoffMs, factor, maxMs, jitter }: RetryPolicy,
  entropy: Entropy,
): number {
  // Grown beyond all bounds it would be infinite, and no wait times that not a number.
  const wait = backoffMs === 0 ? 0 : Math.min(maxMs, backoffMs * factor ** (attempt - 1))
  return Math.round(jitter === 'full' ? wait * entropy.random() : wait)
}

/** Which attempt comes next after those in the log, when, and what they have cost. */
export function readAttempts(records: readonly LogEvent[]): {
  readonly attempt: number
  readonly dueAt: number | null
  readonly usage: Usage[]
} {
  const usage: Usage[] = []
  let attempt = 1
  let dueAt: number | null = null
  for (const { type, payload, at } of records) {
    if (type !== 'attempted') continue
    const attempted = decode(payload) as AttemptedPayload
    usage.push(...((attempted.usage ?? []) as readonly Usage[]))
    attempt = attempted.attempt + 1
    dueAt = at + attempted.delayMs
  }
  return { attempt, dueAt, usage }
}
