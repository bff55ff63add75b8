import type { Mark, RunKey } from './runs.ts'
import type { ProcedureVersions, WorkerKey } from './workers.ts'

/** Which worker owns which run. */
export interface ClaimStore {
  /** Takes due runs that the claimant can execute, the longest due first: owned, epoch raised, not due. */
  claim(claimant: Claimant, limit: number): Promise<Claims>
  /** The due suspects that the claimant can execute: those with the most `positives` first, then the longest due. */
  suspects(claimant: Claimant, limit: number): Promise<readonly Suspect[]>
  /** Takes these runs, as far as they are due and the claimant can execute them. Its choice of suspects does not matter. */
  take(claimant: Claimant, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  /** Ends the test of all runs that the worker tests: it keeps them, and its death says nothing about them. */
  endTest(worker: WorkerKey): Promise<void>
  /** The due runs that no worker owns, by procedure and version. */
  backlog(): Promise<readonly Backlog[]>
  /** Sets the stuck runs of the claimant's procedures due, so that they are tried again. Returns how many. */
  retryStuck(claimant: Claimant): Promise<number>
}

/** Who claims, and what it can execute. */
export interface Claimant {
  readonly worker: WorkerKey
  readonly procedures: readonly ProcedureVersions[]
  /** Which suspects it takes; 'unblamed': those without `positives`. Default: 'all'. */
  readonly suspects?: 'all' | 'unblamed' | 'none'
}

export interface Claimed {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly version: number
  readonly epoch: number
  readonly head: number
  readonly mail: number
  /** How often in a row it was taken from a dead worker; a commit sets it to 0. From {@link suspectTries} on it is a suspect, and tested. */
  readonly tries: number
  /** Of a suspect: how many of its tests its worker died in. */
  readonly positives: number
  /** Of a suspect: in how many of these it was the only run that its worker tested. */
  readonly alone: number
  readonly mark: Mark | number
  readonly link: Uint8Array
}

export interface Claims {
  readonly runs: readonly Claimed[]
  readonly at: number
  /** When the next unowned run is due that the claimant would take; null if none is. */
  readonly nextDueAt: number | null
  /** Whether there are due suspects that this claimant does not take; perhaps it could not execute them. */
  readonly leavesSuspects: boolean
}

/** A suspect that no worker owns. */
export interface Suspect extends Pick<Claimed, 'run' | 'tries' | 'positives' | 'alone'> {
  /** Due since then. Suspects that one death has blamed are due since the same instant. */
  readonly dueAt: number
}

/** Due runs of one procedure and version. */
export interface Backlog {
  readonly procedure: string
  /** Null: they have no version yet. */
  readonly version: number | null
  /** The id of the one that has been due longest. */
  readonly oldest: string
  /** How many there are; no more than 1,000 are counted. */
  readonly count: number
}
