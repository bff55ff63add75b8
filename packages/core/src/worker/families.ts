import { dropOldest } from '../base/drop-oldest.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { Clock } from '../ports/clock.ts'

/** After what time a family is counted again at the earliest. Other workers create runs too. */
const countAgainMs = 200
/** Counting takes at most this part of the time. */
const countShare = 1 / 20
/** The number of families whose sizes are remembered. */
const maxFamilies = 1_000

/**
 * The sizes of the families that runs of this worker enlarge. A family is counted in the store, then estimated for a while from
 * what this worker creates: it may exceed its bound by what several workers create in that time.
 */
export class Families {
  readonly #clock: Clock
  readonly #max: number
  readonly #families = new Map<string, Family>()

  /** @param max the number of descendants that a root may have */
  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  /**
   * Admits one more descendant of a root. `count` counts at most so many. Returns a promise if it has to count.
   * @throws PawlError 'family-full'
   */
  admit(root: string, count: CountDescendants): void | Promise<void> {
    const family = this.#familyOf(root)
    if (!this.#isKnown(family)) return this.#countFirst(root, family, count)
    this.#take(root, family)
  }

  async #countFirst(root: string, family: Family, count: CountDescendants): Promise<void> {
    while (!this.#isKnown(family)) {
      // The run that counts reports its own failure.
      if (family.counting !== null) await family.counting.catch(() => {})
      else await this.#count(root, family, count)
    }
    this.#take(root, family)
  }

  async #count(root: string, family: Family, count: CountDescendants): Promise<void> {
    const startedAt = this.#clock.elapsed()
    const { created } = family
    const counting = count(root, this.#max)
    family.counting = counting
    try {
      family.size = await counting
    } finally {
      family.counting = null
    }
    // What is being written is in neither number, and nothing is in both.
    family.created -= created
    const now = this.#clock.elapsed()
    family.knownUntil = now + Math.max(countAgainMs, (now - startedAt) / countShare)
  }

  #take(root: string, family: Family): void {
    if (family.size + family.created >= this.#max)
      throw new PawlError('family-full', { root, limit: this.#max })
    family.created++
  }

  #isKnown({ counting, knownUntil }: Family): boolean {
    return counting === null && this.#clock.elapsed() < knownUntil
  }

  #familyOf(root: string): Family {
    const known = this.#families.get(root)
    if (known !== undefined) return known
    const family: Family = { size: 0, created: 0, knownUntil: Number.NEGATIVE_INFINITY, counting: null }
    this.#families.set(root, family)
    dropOldest(this.#families, maxFamilies)
    return family
  }
}

type CountDescendants = (root: string, limit: number) => Promise<number>

interface Family {
  /** As counted in the store. */
  size: number
  /** What this worker has created since. */
  created: number
  knownUntil: number
  counting: Promise<number> | null
}
