/**
 * When to plan anew. A plan made while a table had one page reads the whole table, and goes on doing so when
 * it has a million rows: 50 ms a commit in place of half of one. So statements are prepared again, under new
 * names, whenever the tables have grown to four times what they were.
 */
export class PlanAge {
  #generation = 0
  #rows = 0
  #highestRun = 0
  #written = 0

  get generation(): number {
    return this.#generation
  }

  /** A run was seen; its number tells how many there are. */
  noteRun(run: number): void {
    if (run > this.#highestRun) {
      this.#highestRun = run
      this.#compare()
    }
  }

  /** Rows were added to events, messages or asks. */
  noteRows(count: number): void {
    this.#written += count
    this.#compare()
  }

  #compare(): void {
    const rows = this.#highestRun + this.#written
    if (rows < 4 * this.#rows) return
    this.#rows = Math.max(rows, 16)
    this.#generation++
  }
}
