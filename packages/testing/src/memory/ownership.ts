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

/** Whether the claimant may take it once it is due. */
export function canClaim(run: RunRecord, claimant: Claimant): boolean {
  return canExecute(run, claimant) && isTaken(run, claimant)
}

/** Whether it is one of those that the claimant has chosen, be they executable or not. */
export function isTaken(run: RunRecord, claimant: Claimant): boolean {
  return !isSuspect(run) || run.positives <= maxPositives(claimant)
}
