import type { Tables } from './tables.ts'

/** Tells the watching connections of other processes that something was written. */
export class Hints {
  readonly process: object
  readonly #watchers: Tables['watchers']

  constructor({ watchers }: Tables, process: object) {
    this.process = process
    this.#watchers = watchers
  }

  watch(onHint: () => void): () => void {
    const hints = this.#watchers.get(this) ?? new Set()
    this.#watchers.set(this, hints.add(onHint))
    return () => hints.delete(onHint)
  }

  send(): void {
    for (const [{ process }, hints] of this.#watchers) {
      if (process !== this.process)
        for (const onHint of hints) queueMicrotask(() => hints.has(onHint) && onHint())
    }
  }

  close(): void {
    this.#watchers.delete(this)
  }
}
