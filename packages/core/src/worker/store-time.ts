import type { Clock } from '../ports/clock.ts'

/**
 * Estimates the store's time from its last known time and the time since. The worker's wall clock never decides about a
 * timer.
 */
export class StoreTime {
  readonly #clock: Clock
  #lastRead = 0
  #lastReadAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records that the store's time is `at` now. */
  learn(at: number): void {
    this.#lastRead = at
    this.#lastReadAt = this.#clock.elapsed()
  }

  now(): number {
    return Math.floor(this.#lastRead + (this.#clock.elapsed() - this.#lastReadAt))
  }
}
