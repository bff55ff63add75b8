/** Counts replies by method and status. */
export class ReplyCounts {
  readonly #counts = new Map<string, number>()

  add(method: string, status: number): void {
    const labels = `method="${knownMethods.has(method) ? method : 'other'}",status="${status}"`
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1)
  }

  /** Yields each combination of labels with its count. */
  entries(): readonly (readonly [labels: string, count: number])[] {
    return [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  }
}

// A caller chooses the method: it must not be able to add labels.
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
