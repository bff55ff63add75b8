const maxRuns = 1_000
/** A longer one is read when it is asked for. */
const maxOutputLength = 4_096

/**
 * What the last runs to complete here returned: whoever waits for one in this process need not read it from
 * the store. It is forgotten when a run of that id is seen alive: its end was lost with a database.
 */
export class OutputCache {
  readonly #outputs = new Map<string, Uint8Array | null>()

  add(run: string, output: Uint8Array | null): void {
    this.forget(run)
    if (output !== null && output.length > maxOutputLength) return
    this.#outputs.set(run, output)
    if (this.#outputs.size <= maxRuns) return
    for (const oldest of this.#outputs.keys()) {
      this.#outputs.delete(oldest)
      return
    }
  }

  forget(run: string): void {
    this.#outputs.delete(run)
  }

  /** Undefined if it is not known here. */
  find(run: string): { readonly output: Uint8Array | null } | undefined {
    const output = this.#outputs.get(run)
    return output === undefined ? undefined : { output }
  }
}
