import type { StoreCall } from '@pawl/core/internal'
import type { Unit, WorkerKey } from '@pawl/core/storage'
import type { MeddlingStore } from './meddling-store.ts'

/** What a store is given in one round of the event loop, at most, since the last `reset`. */
export class WorkPerRound {
  readonly #max = new Map<string, number>()
  #round = new Map<string, number>()
  #maxOfAll = 0
  #isOver = false

  /**
   * Counts items of lists, rows of commits, and reads, each under the name of its method. To be made before anything
   * else happens: its own part of a round comes first.
   */
  constructor(store: MeddlingStore, methods: readonly StoreCall[]) {
    const beginRound = (): void => {
      this.#round = new Map()
      if (!this.#isOver) setImmediate(beginRound)
    }
    beginRound()
    for (const method of methods)
      store.always(method, (go, args) => {
        this.#add(method, countItems(method, args))
        return go()
      })
  }

  stop(): void {
    this.#isOver = true
  }

  reset(): void {
    this.#max.clear()
    this.#maxOfAll = 0
  }

  max(method: StoreCall): number {
    return this.#max.get(method) ?? 0
  }

  /** The maximum of all methods together. */
  get maxOfAll(): number {
    return this.#maxOfAll
  }

  #add(method: string, count: number): void {
    const sum = (this.#round.get(method) ?? 0) + count
    this.#round.set(method, sum)
    this.#max.set(method, Math.max(this.#max.get(method) ?? 0, sum))
    const all = [...this.#round.values()].reduce((total, one) => total + one, 0)
    this.#maxOfAll = Math.max(this.#maxOfAll, all)
  }
}

function countItems(method: StoreCall, args: readonly unknown[]): number {
  if (method === 'log.commit') {
    const [, units] = args as readonly [WorkerKey, readonly Unit[]]
    return units.reduce((sum, { events, effects }) => sum + 1 + events.length + effects.length, 0)
  }
  const [items] = args
  return Array.isArray(items) ? items.length : 1
}
