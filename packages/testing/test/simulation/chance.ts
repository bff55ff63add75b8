import { createSeededEntropy } from '../../src/seeded-entropy.ts'

/** Chance that is the same for the same seed. */
export class Chance {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = createSeededEntropy(seed, 0).random
  }

  /** From 0 up to, and without, `limit`; a whole number. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }

  /** From `min` to `max`, both among them. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1)
  }

  /** One time in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('There is nothing to pick from.')
    return items[this.below(items.length)] as Item
  }
}
