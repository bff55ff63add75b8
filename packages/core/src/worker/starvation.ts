import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Slots } from './slots.ts'

/** How long all slots may be in use while bodies wait before that is logged. */
const starvedMs = 30_000

/** Warns once if no slot has been released for a while: bodies that wait for queued bodies wait forever. */
export class Starvation {
  readonly #slots: Pick<Slots, 'releases' | 'queued' | 'taken'>
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #logger: Pick<Logger, 'warn'>
  #releases = -1
  /** Since when no slot has been released; in the future once that was logged. */
  #since = 0

  constructor(
    slots: Pick<Slots, 'releases' | 'queued' | 'taken'>,
    clock: Pick<Clock, 'elapsed'>,
    logger: Pick<Logger, 'warn'>,
  ) {
    this.#slots = slots
    this.#clock = clock
    this.#logger = logger
  }

  look(): void {
    const { releases, queued, taken } = this.#slots
    if (queued === 0 || releases !== this.#releases) {
      this.#releases = releases
      this.#since = this.#clock.elapsed()
    } else if (this.#clock.elapsed() - this.#since >= starvedMs) {
      this.#logger.warn(
        `All ${taken} step slots have been busy for ${starvedMs / 1_000} s and ${queued} steps are queued. If steps wait for other runs, move the wait out of the step; otherwise raise \`concurrency\``,
      )
      this.#since = Number.POSITIVE_INFINITY
    }
  }
}
