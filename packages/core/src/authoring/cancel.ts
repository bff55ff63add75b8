import { PawlError } from '../errors/pawl-error.ts'
import type { LogEvent } from '../events/event.ts'
import { readCancelled } from '../events/read-cancelled.ts'
import type { Cancel } from '../kernel/execution.ts'
import { Unreadable } from '../kernel/operation.ts'

/** Reads a `cancelled` event. Its operations are each rejected with a separate error. */
export function readCancel(event: LogEvent): Cancel {
  try {
    const { reason, forced } = readCancelled(event)
    return { forced: forced === true, error: () => new PawlError('cancelled', { reason }) }
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
