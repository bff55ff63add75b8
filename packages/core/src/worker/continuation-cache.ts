import type { RunKey } from '../ports/store/runs.ts'
import type { Run } from './run/run.ts'

/**
 * Keeps the continuations of parked runs, so that waking one does not need a replay. If there are too many, or they hold
 * too many bytes, the least recently parked are dropped; a dropped one costs only a replay.
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

  /** Returns the continuation and removes it. */
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
