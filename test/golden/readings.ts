/** Counts the readings of the facts of gates: those that a log has, and those that follow. */
export class ReadingCounter {
  readonly #counts = new Map<string, number>()

  /** `recorded`: the names of the steps that the log of each run has. */
  constructor(runs: readonly { readonly id: string; readonly recorded: readonly string[] }[] = []) {
    for (const { id, recorded } of runs)
      for (const name of recorded)
        if (name.endsWith(' · facts')) this.count(id, name.slice(0, -' · facts'.length))
  }

  readonly count = (run: string, action: string): number => {
    const key = `${run}: ${action}`
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count
  }
}
