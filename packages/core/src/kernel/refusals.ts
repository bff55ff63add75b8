import { inOrderOfIdentity } from './identity.ts'
import type { Operation, Pending } from './operation.ts'

/**
 * Operations of closed scopes that are still to be rejected, each in a turn of its own: in order of identity, so that
 * neither an await more nor the order in which two races of one turn ended changes whose turn it is.
 */
export class Refusals<O extends Operation> {
  readonly #waiting = new Set<Pending<O>>()
  /** The same, the next one last; null: not in order. */
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
