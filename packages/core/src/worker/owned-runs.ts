import type { RunKey } from '../ports/store/runs.ts'
import type { Run } from './run/run.ts'

/** Holds the runs that a worker owns, by the key of the store and by the public id. */
export class OwnedRuns {
  readonly #byKey = new Map<RunKey, Run>()
  readonly #byId = new Map<string, Run>()

  get size(): number {
    return this.#byKey.size
  }

  add(run: Run): void {
    this.#byKey.set(run.key, run)
    this.#byId.set(run.id, run)
  }

  find(key: RunKey): Run | undefined {
    return this.#byKey.get(key)
  }

  has(run: Run): boolean {
    return this.#byKey.get(run.key) === run
  }

  /** Whether it has a run with this id. */
  hasId(id: string): boolean {
    return this.#byId.has(id)
  }

  /** Removes a run, unless another one has replaced it. */
  remove(run: Run): void {
    if (!this.has(run)) return
    this.#byKey.delete(run.key)
    this.#byId.delete(run.id)
  }

  [Symbol.iterator](): Iterator<Run> {
    return this.#byKey.values()
  }

  clear(): void {
    this.#byKey.clear()
    this.#byId.clear()
  }
}
