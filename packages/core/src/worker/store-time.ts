import type { Clock } from '../ports/clock.ts'

/**
 * The store's clock as this process knows it: what the store last said, and what has passed since. The wall
 * clock of the worker never decides about a timer.
 */
export class StoreTime {
  readonly #clock: Clock
  #told = 0
  #toldAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The store said it is `at` now. */
  learn(at: number): void {
    this.#told = at
    this.#toldAt = this.#clock.elapsed()
  }

  now(): number {
    return Math.floor(this.#told + (this.#clock.elapsed() - this.#toldAt))
  }
}
