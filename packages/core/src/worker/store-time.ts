import type { Clock } from '../ports/clock.ts'

/**
 * The store's clock as this process knows it: what the store last said, and what has passed since. The wall
 * clock of the worker never decides about a timer.
 */
export class StoreTime {
  readonly #clock: Clock
  #lastRead = 0
  #lastReadAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The store said it is `at` now. */
  learn(at: number): void {
    this.#lastRead = at
    this.#lastReadAt = this.#clock.elapsed()
  }

  now(): number {
    return Math.floor(this.#lastRead + (this.#clock.elapsed() - this.#lastReadAt))
  }
}
