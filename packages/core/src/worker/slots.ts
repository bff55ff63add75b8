import { queueMicrotaskNative } from '../host/natives.ts'

/** Waits for a slot to start a step body. */
export interface Waiter {
  onSlot(): void
}

/**
 * Limits how many step bodies run at once in this process; further ones wait in order of arrival. None starts while
 * `mayBegin` returns false; `look` is called when that changes.
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

  /** The number of slots in use. */
  get taken(): number {
    return this.#taken
  }
  /** The total number of released slots. */
  get releases(): number {
    return this.#releases
  }
  /** The number of waiting bodies while all slots are in use. */
  get queued(): number {
    return this.#taken < this.#count ? 0 : this.#waiting.size
  }

  /** Gives the waiter a slot, now or as soon as one is free. */
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

  /** Releases a slot. */
  release(): void {
    this.#taken--
    this.#releases++
    const waiting = this.#onRelease
    this.#onRelease = []
    for (const resolve of waiting) resolve()
    // Deferred: a run that is dropped stops its steps one after the other, and each would start the next one.
    if (this.#waiting.size > 0) queueMicrotaskNative(() => this.look())
  }

  /** Resolves when a slot is released. */
  released(): Promise<void> {
    return new Promise((resolve) => this.#onRelease.push(resolve))
  }

  /** Closes the slots for good. */
  close(): void {
    this.#closed = true
  }

  /** Starts waiting bodies that may start. */
  look(): void {
    for (const waiter of this.#waiting) {
      if (!this.#isFree) return
      this.#waiting.delete(waiter)
      this.#give(waiter)
    }
  }
}
