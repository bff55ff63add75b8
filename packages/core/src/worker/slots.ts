import { queueMicrotaskNative } from '../host/natives.ts'

/**
 * At most so many step bodies at work at once in this process; the rest wait their turn, first come first
 * served. None begins while `mayBegin` says no; `look` is for when that has changed.
 */
export class Slots {
  readonly #count: number
  readonly #mayBegin: () => boolean
  #taken = 0
  #releases = 0
  #closed = false
  readonly #waiting = new Set<() => void>()
  #onRelease: (() => void)[] = []

  constructor(count: number, mayBegin: () => boolean) {
    this.#count = count
    this.#mayBegin = mayBegin
  }

  /** How many are at work. */
  get taken(): number {
    return this.#taken
  }
  /** How many have been given back, ever. */
  get releases(): number {
    return this.#releases
  }
  /** How many wait because all are taken. */
  get queued(): number {
    return this.#taken < this.#count ? 0 : this.#waiting.size
  }

  /** Calls `begin` as soon as there is a slot: now, if there is one. Returns how to leave the queue. */
  take(begin: () => void): () => void {
    this.#waiting.add(begin)
    this.look()
    return () => this.#waiting.delete(begin)
  }

  /** Gives a slot back. */
  release(): void {
    this.#taken--
    this.#releases++
    const waiting = this.#onRelease
    this.#onRelease = []
    for (const resolve of waiting) resolve()
    // Not at once: whoever lets go of a whole run would begin the next step of it with each that it stops.
    if (this.#waiting.size > 0) queueMicrotaskNative(() => this.look())
  }

  /** Resolves when a slot is given back. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#onRelease.push(resolve))
  }

  /** For good. */
  close(): void {
    this.#closed = true
  }

  /** Begins what may begin. */
  look(): void {
    for (const begin of this.#waiting) {
      if (this.#closed || this.#taken >= this.#count || !this.#mayBegin()) return
      this.#waiting.delete(begin)
      this.#taken++
      begin()
    }
  }
}
