import { dropOldest } from '../base/drop-oldest.ts'

const maxRuns = 1_000
/** Longer outputs are read from the store on demand. */
const maxOutputLength = 4_096

/**
 * Keeps the outputs of recently completed runs, so that waiting callers in this process need not read the store.
 * An output is forgotten if a run with its id is live: then its end was lost with a database.
 */
export class OutputCache {
  readonly #outputs = new Map<string, Uint8Array | null>()

  add(run: string, output: Uint8Array | null): void {
    this.forget(run)
    if (output !== null && output.length > maxOutputLength) return
    this.#outputs.set(run, output)
    dropOldest(this.#outputs, maxRuns)
  }

  forget(run: string): void {
    this.#outputs.delete(run)
  }

  /** Returns the output; undefined if it is unknown here. */
  find(run: string): { readonly output: Uint8Array | null } | undefined {
    const output = this.#outputs.get(run)
    return output === undefined ? undefined : { output }
  }
}
