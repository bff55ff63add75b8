import type { Mark, RunKey, RunRow } from './runs.ts'
import type { ProcedureVersions, WorkerKey } from './workers.ts'

/** Stores which worker owns which run. */
export interface ClaimStore {
  /** Claims due runs that the claimant can execute, the longest due first: owned, epoch raised, not due. */
  claim(claimant: Claimant, limit: number): Promise<Claims>
  /** Claims the given runs that are due and that the claimant can execute. Ignores its choice of suspects. */
  take(claimant: Claimant, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  /**
   * Lists due runs without an owner that were requested to be cancelled at least `ageMs` ago, the oldest request first. A
   * quarantined run is never due.
   */
  cancelled(ageMs: number, limit: number): Promise<readonly CancelledRun[]>
  /** Claims the given runs that are due and were requested to be cancelled, whatever code they need. */
  takeCancelled(worker: WorkerKey, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  /** Counts the due runs without an owner, by procedure and version. */
  backlog(): Promise<readonly Backlog[]>
  /** Makes the stuck runs of the claimant's procedures due, so that they are retried. Returns their number. */
  retryStuck(claimant: Claimant): Promise<number>
}

/** A worker that claims runs, and what it can execute. */
export interface Claimant {
  readonly worker: WorkerKey
  readonly procedures: readonly ProcedureVersions[]
  /** Which suspects it claims; 'unblamed': only suspects without `positives`. Default: 'all'. */
  readonly suspects?: 'all' | 'unblamed' | 'none'
}

/** A run that a worker has claimed. */
export interface Claimed {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  /** 0: it has none yet, and was claimed by {@link ClaimStore.takeCancelled}. */
  readonly version: number
  readonly epoch: number
  readonly head: number
  /** See {@link RunRow.base}. */
  readonly base: number
  readonly mail: number
  /** How many times in a row its worker died; a commit resets it to 0. From {@link suspectTries} on the run is a suspect and is tested. */
  readonly tries: number
  /** Of a suspect: the number of its tests in which the worker died. */
  readonly positives: number
  /** Of a suspect: the number of those in which it was the only run being tested. */
  readonly alone: number
  readonly mark: Mark | number
  readonly link: Uint8Array
}

/** A run that was requested to be cancelled and that no worker has claimed. */
export interface CancelledRun {
  readonly run: RunKey
  readonly procedure: string
  /** Null: it has no version yet. */
  readonly version: number | null
}

/** The outcome of a claim. */
export interface Claims {
  readonly runs: readonly Claimed[]
  readonly at: number
  /** When the next unowned run becomes due that the claimant would claim; null if there is none. */
  readonly nextDueAt: number | null
  /** Whether there are due suspects that this claimant does not claim, whether it can execute them or not. */
  readonly leavesSuspects: boolean
}

/** The due runs of one procedure and version. */
export interface Backlog {
  readonly procedure: string
  /** Null: they have no version yet. */
  readonly version: number | null
  /** The id of the run that has been due longest. */
  readonly oldest: string
  /** The number of runs, at most 1,000. */
  readonly count: number
}
