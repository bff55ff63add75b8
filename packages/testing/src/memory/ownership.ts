import type { Claimant, Claimed, WorkerKey } from '@pawl/core/storage'
import type { RunRecord, Tables } from './tables.ts'

export function isDue(run: RunRecord, now: number): boolean {
  return run.worker === null && run.wakeAt !== null && run.wakeAt <= now
}

/** The version the claimant would run it in; undefined if it cannot execute it. */
function chooseVersion(run: RunRecord, { procedures }: Claimant): number | undefined {
  const versions = procedures.find(({ name }) => name === run.procedure)?.versions ?? []
  if (run.version !== null) return versions.includes(run.version) ? run.version : undefined
  return versions.length > 0 ? Math.max(...versions) : undefined
}

function showClaimed(run: RunRecord, version: number): Claimed {
  const { id, procedure, epoch, mail, tries, mark, link } = run
  return { run: run.run, id, procedure, version, epoch, head: run.events.length, mail, tries, mark, link }
}

export function isAlive(tables: Tables, worker: WorkerKey | null): boolean {
  return worker !== null && tables.workers.get(worker)?.isDead === false
}

export function canExecute(run: RunRecord, claimant: Claimant): boolean {
  return chooseVersion(run, claimant) !== undefined
}

/** Whether the claimant may take it once it is due. */
export function canClaim(run: RunRecord, claimant: Claimant): boolean {
  return canExecute(run, claimant) && run.tries <= (claimant.maxTries ?? run.tries)
}

export function claimIfDue(tables: Tables, run: RunRecord, claimant: Claimant, now: number): Claimed | null {
  const version = chooseVersion(run, claimant)
  if (version === undefined || !canClaim(run, claimant)) return null
  if (!isDue(run, now) || !isAlive(tables, claimant.worker)) return null
  Object.assign(run, { version, worker: claimant.worker, epoch: run.epoch + 1, wakeAt: null })
  return showClaimed(run, version)
}

export function handBack(run: RunRecord, now: number): void {
  Object.assign(run, { worker: null, epoch: run.epoch + 1, wakeAt: now })
}
