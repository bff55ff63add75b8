import { dropOldest } from '../base/drop-oldest.ts'
import type { RunKey } from '../ports/store/runs.ts'

const maxRuns = 1_000
/** Longer outputs are read from the store on demand. */
const maxOutputLength = 4_096

/**
 * Keeps the outputs of recently completed runs, so that waiting callers in this process need not read the store.
 * An output is forgotten if a run with its id is live: then its end was lost with a database.
 */
export class OutputCache {
  readonly #outputs = new Map<string, { readonly run: RunKey; readonly output: Uint8Array | null }>()

  add(id: string, run: RunKey, output: Uint8Array | null): void {
    this.forget(id)
    if (output !== null && output.length > maxOutputLength) return
    this.#outputs.set(id, { run, output })
    dropOldest(this.#outputs, maxRuns)
  }

  forget(id: string): void {
    this.#outputs.delete(id)
  }

  /** Forgets the output of a run that was deleted. */
  forgetRun(run: RunKey): void {
    for (const [id, known] of this.#outputs) if (known.run === run) this.#outputs.delete(id)
  }

  /** Returns the output; undefined if it is unknown here. */
  find(id: string): { readonly output: Uint8Array | null } | undefined {
    return this.#outputs.get(id)
  }
}
