import {
  type Claimant,
  type Claimed,
  chooseVersion,
  isSuspect,
  markCode,
  maxPositives,
  showClaimed,
  type WorkerKey,
} from '@pawl/core/storage'
import type { RunRecord, Tables, WorkerRecord } from './tables.ts'

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

export function claimIfDue(tables: Tables, run: RunRecord, claimant: Claimant, now: number): Claimed | null {
  const version = chooseVersion(claimant.procedures, run.procedure, run.version)
  if (version === undefined || !canClaim(run, claimant)) return null
  if (!isDue(run, now) || !isAlive(tables, claimant.worker)) return null
  const isTested = isSuspect(run)
  Object.assign(run, { version, worker: claimant.worker, epoch: run.epoch + 1, wakeAt: null, isTested })
  return showClaimed({ ...run, version, head: run.events.length, mark: markCode.numberOf[run.mark] })
}

export function declareDead({ runs }: Tables, worker: WorkerRecord): void {
  if (worker.isDead) return
  worker.isDead = true
  const owned = [...runs.values()].filter((run) => run.worker === worker.worker)
  worker.tested = owned.filter((run) => isSuspect(run) && run.isTested).length
}

/** What a death says about a run of the worker, which tested so many when it was declared dead. */
export function blame(run: RunRecord, tested: number): void {
  if (!isSuspect(run)) Object.assign(run, { positives: 0, alone: 0 })
  else if (run.isTested) {
    run.positives++
    if (tested === 1) run.alone++
  } else if (tested > 0) run.alone = 0
  run.tries++
}

export function handBack(run: RunRecord, now: number): void {
  Object.assign(run, { worker: null, epoch: run.epoch + 1, wakeAt: now })
}
