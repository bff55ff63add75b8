import { queueMicrotaskNative } from '../host/natives.ts'

/** Whoever has a step body to begin. */
export interface Waiter {
  onSlot(): void
}

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
  readonly #waiting = new Set<Waiter>()
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

  /** Gives the waiter a slot as soon as there is one: now, if there is. */
  take(waiter: Waiter): void {
    if (this.#waiting.size === 0 && this.#isFree) return this.#give(waiter)
    this.#waiting.add(waiter)
    this.look()
  }

  /** Leaves the queue. */
  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  #give(waiter: Waiter): void {
    this.#taken++
    waiter.onSlot()
  }

  get #isFree(): boolean {
    return !this.#closed && this.#taken < this.#count && this.#mayBegin()
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
    for (const waiter of this.#waiting) {
      if (!this.#isFree) return
      this.#waiting.delete(waiter)
      this.#give(waiter)
    }
  }
}
