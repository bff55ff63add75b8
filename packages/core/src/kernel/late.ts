import type { LogEvent } from '../events/event.ts'
import { isAbout } from './identity.ts'
import type { Operation, Pending } from './operation.ts'

interface Waiter {
  /** Whether it also waits for open shields. */
  readonly awaitsShields: boolean
  readonly callback: () => void
}

/**
 * The results that the log has of operations whose scope was closed before they were delivered, and the callbacks for the
 * time when none of them is left. They begin no turn.
 */
export class LateResults<O extends Operation> {
  /** The closed operations whose results are read. */
  readonly #closed = new Set<Pending<O>>()
  readonly #waiters: Waiter[] = []

  get isEmpty(): boolean {
    return this.#closed.size === 0
  }

  add(pending: Pending<O>): void {
    this.#closed.add(pending)
  }

  /** Reads the result of a closed operation. @throws Unreadable */
  read(event: LogEvent): void {
    if (event.type !== 'settled') return
    for (const pending of this.#closed)
      if (isAbout(event, pending)) {
        this.#closed.delete(pending)
        if (!event.failed) pending.operation.readLate?.(event)
        return
      }
  }

  await(waiter: Waiter): void {
    this.#waiters.push(waiter)
  }

  /** Whether a callback is due. */
  isDue(hasShields: boolean): boolean {
    return this.#waiters.some(({ awaitsShields }) => !(awaitsShields && hasShields))
  }

  /** Removes and returns the first callback that is due. */
  takeDue(hasShields: boolean): Waiter | undefined {
    const index = this.#waiters.findIndex(({ awaitsShields }) => !(awaitsShields && hasShields))
    return index === -1 ? undefined : this.#waiters.splice(index, 1)[0]
  }
}
