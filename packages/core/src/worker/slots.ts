/**
 * At most so many step bodies at work at once in this process; the rest wait their turn, first come first
 * served. Paused or closed, no further one begins.
 */
export class Slots {
  readonly #count: number
  #taken = 0
  #open = true
  #closed = false
  readonly #waiting = new Set<() => void>()
  #onRelease: (() => void)[] = []

  constructor(count: number) {
    this.#count = count
  }

  /** How many are at work. */
  get taken(): number {
    return this.#taken
  }

  /** Calls `begin` as soon as there is a slot: now, if there is one. Returns how to leave the queue. */
  take(begin: () => void): () => void {
    this.#waiting.add(begin)
    this.#next()
    return () => this.#waiting.delete(begin)
  }

  /** Gives a slot back. */
  release(): void {
    this.#taken--
    const waiting = this.#onRelease
    this.#onRelease = []
    for (const resolve of waiting) resolve()
    this.#next()
  }

  /** Resolves when a slot is given back. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#onRelease.push(resolve))
  }

  pause(): void {
    this.#open = false
  }

  resume(): void {
    this.#open = true
    this.#next()
  }

  /** For good. */
  close(): void {
    this.#closed = true
  }

  #next(): void {
    for (const begin of this.#waiting) {
      if (!this.#open || this.#closed || this.#taken >= this.#count) return
      this.#waiting.delete(begin)
      this.#taken++
      begin()
    }
  }
}
