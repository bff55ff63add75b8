import { PawlError } from '../errors/pawl-error.ts'
import type { LogEvent } from '../events/event.ts'
import { readCancelled } from '../events/read-cancelled.ts'
import type { Cancel } from '../kernel/execution.ts'
import { Unreadable } from '../kernel/operation.ts'

/** Reads a `cancelled` event. Its operations are each rejected with a separate error. */
export function readCancel(event: LogEvent): Cancel {
  try {
    const { reason, forced } = readCancelled(event)
    return { forced: forced === true, error: () => createCancel(reason) }
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** The errors that cancels have made. An error that only looks like one is none. */
const cancels = new WeakSet<object>()

/** Creates the error of a cancelled run. */
export function createCancel(reason: string | undefined): PawlError<'cancelled'> {
  const error = new PawlError('cancelled', { reason })
  cancels.add(error)
  return error
}

/** How deep causes and aggregates are followed. */
const maxDepth = 8

/** Whether an error is that of a cancel, or was caused by one. */
export function isCausedByCancel(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > maxDepth) return false
  if (cancels.has(error)) return true
  if (!(error instanceof Error)) return false
  if (isCausedByCancel(error.cause, depth + 1)) return true
  if (!(error instanceof AggregateError)) return false
  return error.errors.some((one: unknown) => isCausedByCancel(one, depth + 1))
}
