import type { Claimant, Claimed } from './claims.ts'
import type { WorkerKey } from './workers.ts'

/**
 * Finds the suspects of crash loops, and ends their tests. A store without it begins no test: its `sweep` counts no death against
 * a run, and its runs have no `positives`.
 */
export interface SuspectStore {
  /** Lists due suspects that the claimant can execute: most `positives` first, then the longest due. */
  list(claimant: Claimant, limit: number): Promise<readonly Suspect[]>
  /** Ends the test of all runs the worker tests: it keeps them, and a crash no longer counts against them. */
  endTest(worker: WorkerKey): Promise<void>
}

/** A suspect without an owner. */
export interface Suspect extends Pick<Claimed, 'run' | 'tries' | 'positives' | 'alone'> {
  /** When it became due. Suspects blamed for the same crash are due since the same instant. */
  readonly dueAt: number
}
