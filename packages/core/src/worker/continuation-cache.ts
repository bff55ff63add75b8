import type { RunKey } from '../ports/store/runs.ts'
import type { Run } from './run/run.ts'

/**
 * Continuations of waiting runs, so that what wakes them need not be preceded by a replay. The least recently
 * parked go first when there are too many, or too much was given to them; losing one costs a replay, nothing else.
 */
export class ContinuationCache {
  readonly #max: { readonly runs: number; readonly bytes: number }
  readonly #runs = new Map<RunKey, { readonly run: Run; readonly weight: number }>()
  #bytes = 0

  constructor(max: { readonly runs: number; readonly bytes: number }) {
    this.#max = max
  }

  add(run: Run): void {
    this.take(run.key)
    this.#runs.set(run.key, { run, weight: run.weight })
    this.#bytes += run.weight
    for (const { run: oldest } of this.#runs.values()) {
      if (this.#runs.size <= this.#max.runs && this.#bytes <= this.#max.bytes) return
      this.take(oldest.key)?.drop()
    }
  }

  find(key: RunKey): Run | undefined {
    return this.#runs.get(key)?.run
  }

  /** The continuation, which is not kept any more. */
  take(key: RunKey): Run | undefined {
    const kept = this.#runs.get(key)
    if (kept === undefined) return undefined
    this.#runs.delete(key)
    this.#bytes -= kept.weight
    return kept.run
  }

  forget(run: Run): void {
    if (this.#runs.get(run.key)?.run === run) this.take(run.key)
  }

  clear(): void {
    for (const { run } of this.#runs.values()) run.drop()
    this.#runs.clear()
    this.#bytes = 0
  }
}
