/**
 * Decides when to plan statements again. A plan made while a table had one page keeps scanning the table even at a
 * million rows: 50 ms per commit instead of 0.5 ms. So statements are prepared under new names whenever a table has
 * quadrupled.
 */
export class PlanGeneration {
  readonly #runs = new Growth()
  readonly #rows = new Growth()
  #written = 0
  #generation = 0

  /** Number of times that statements were planned again. */
  get generation(): number {
    return this.#generation
  }

  /** Records a run key, which estimates the number of runs. */
  noteRun(run: number): void {
    if (this.#runs.hasReached(run)) this.#generation++
  }

  /** Records rows added to events, messages or asks. */
  noteRows(count: number): void {
    this.#written += count
    if (this.#rows.hasReached(this.#written)) this.#generation++
  }
}

class Growth {
  #next = 4

  hasReached(size: number): boolean {
    if (size < this.#next) return false
    this.#next = 4 * size
    return true
  }
}
