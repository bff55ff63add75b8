import { type Claimant, chooseVersion, isSuspect, maxPositives, type WorkerKey } from '@pawl/core/storage'
import type { RunRecord, Tables } from './tables.ts'

export function isDue(run: RunRecord, now: number): boolean {
  return run.worker === null && run.wakeAt !== null && run.wakeAt <= now
}

export function isAlive(tables: Tables, worker: WorkerKey | null): boolean {
  return worker !== null && tables.workers.get(worker)?.isDead === false
}

export function canExecute(run: RunRecord, claimant: Claimant): boolean {
  return chooseVersion(claimant.procedures, run.procedure, run.version) !== undefined
}

/** Returns whether the claimant may claim the run once it is due. */
export function canClaim(run: RunRecord, claimant: Claimant): boolean {
  return canExecute(run, claimant) && isTaken(run, claimant)
}

/** Returns whether the claimant's choice of suspects includes the run, whether or not it can execute it. */
export function isTaken(run: RunRecord, claimant: Claimant): boolean {
  return !isSuspect(run) || run.positives <= maxPositives(claimant)
}
