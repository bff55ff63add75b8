import type { RunKey } from './runs.ts'

/** Reads what runs expose. A run writes it with the effects of its units. */
export interface StateStore {
  /** Returns the exposed values of a run, sorted by name: all, or the one with this name. */
  list(run: RunKey, name: string | null): Promise<readonly StateRow[]>
}

/** An exposed value. */
export interface StateRow {
  readonly name: string
  /** When it was last written. */
  readonly at: number
  readonly payload: Uint8Array | null
}
