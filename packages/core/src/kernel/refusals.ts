import { inOrderOfIdentity } from './identity.ts'
import type { Operation, Pending } from './operation.ts'

/**
 * Operations of closed scopes that are still to be rejected, each in its own turn.
 * They are rejected in order of identity, so that neither an extra await nor the order in which two races of one turn
 * ended changes the turns.
 */
export class Refusals<O extends Operation> {
  readonly #waiting = new Set<Pending<O>>()
  /** The same operations, the next one last; null: not sorted. */
  #ordered: Pending<O>[] | null = null

  get size(): number {
    return this.#waiting.size
  }

  get waiting(): Iterable<Pending<O>> {
    return this.#waiting
  }

  add(pending: Pending<O>): void {
    if (this.#waiting.size === this.#waiting.add(pending).size) return
    this.#ordered = null
  }

  takeNext(): Pending<O> {
    this.#ordered ??= [...this.#waiting].sort((a, b) => inOrderOfIdentity(b, a))
    const next = this.#ordered.pop() as Pending<O>
    this.#waiting.delete(next)
    return next
  }
}
