import type { Clock } from '../ports/clock.ts'
import type { Claimant, ClaimStore } from '../ports/store/claims.ts'

/** Pauses between the attempts. The first attempt is made when the worker starts; a deploy takes time. */
const pausesMs = [10_000, 60_000, 300_000, 1_800_000]

/**
 * Retries stuck runs, which the code of this worker may be able to execute. One attempt is not enough: during a deploy,
 * a worker with other code may claim them first, and they become stuck again.
 */
export class StuckRuns {
  readonly #store: { readonly claims: Pick<ClaimStore, 'retryStuck'> }
  readonly #clock: Pick<Clock, 'elapsed'>
  #attempts = 0
  #dueAt = Number.NEGATIVE_INFINITY

  constructor(store: { readonly claims: Pick<ClaimStore, 'retryStuck'> }, clock: Pick<Clock, 'elapsed'>) {
    this.#store = store
    this.#clock = clock
  }

  /** Retries them if it is time to. Returns how many became due. A failed attempt is repeated the next time. */
  async retry(claimant: Claimant): Promise<number> {
    if (this.#clock.elapsed() < this.#dueAt) return 0
    // Once, however many calls are in progress.
    this.#dueAt = Number.POSITIVE_INFINITY
    try {
      const count = await this.#store.claims.retryStuck(claimant)
      this.#dueAt = this.#clock.elapsed() + (pausesMs[this.#attempts++] ?? Number.POSITIVE_INFINITY)
      return count
    } catch (error) {
      this.#dueAt = this.#clock.elapsed()
      throw error
    }
  }
}
