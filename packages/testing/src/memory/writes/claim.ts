import {
  type CancelledRun,
  type Claimant,
  type Claimed,
  type Claims,
  chooseVersion,
  isSuspect,
  markCode,
  type RunKey,
  type Suspect,
  showClaimed,
  type WorkerKey,
} from '@pawl/core/storage'
import { canClaim, canExecute, isAlive, isDue, isTaken } from '../ownership.ts'
import { compareDue, headOf, type RunRecord, type Tables } from '../tables.ts'

export function claimDue(tables: Tables, claimant: Claimant, limit: number, now: number): Claims {
  const due = [...tables.runs.values()].filter((run) => isDue(run, now))
  const runs = due
    .toSorted(compareDue)
    .filter((run) => isAlive(tables, claimant.worker) && canClaim(run, claimant))
    .slice(0, limit)
    .flatMap((run) => claimIfDue(tables, run, claimant, now) ?? [])
  const leavesSuspects = due.some((run) => !isTaken(run, claimant))
  return { runs, at: now, nextDueAt: findNextDue(tables, claimant), leavesSuspects }
}

export function takeRuns(
  tables: Tables,
  claimant: Claimant,
  runs: readonly RunKey[],
  now: number,
): readonly Claimed[] {
  const everyOne: Claimant = { ...claimant, suspects: 'all' }
  return runs.flatMap((run) => takeRun(tables, run, everyOne, now) ?? [])
}

/** Claims the run if it is due. Returns null if there is no claimant. */
export function takeRun(tables: Tables, key: RunKey, claimant: Claimant | null, now: number): Claimed | null {
  const run = tables.runsByKey.get(key)
  return run && claimant ? claimIfDue(tables, run, claimant, now) : null
}

export function findSuspects(
  { runs }: Tables,
  claimant: Claimant,
  limit: number,
  now: number,
): readonly Suspect[] {
  return [...runs.values()]
    .filter((run) => isDue(run, now) && isSuspect(run) && canExecute(run, claimant))
    .map(({ run, tries, positives, alone, wakeAt }) => ({ run, tries, positives, alone, dueAt: wakeAt ?? 0 }))
    .sort((a, b) => b.positives - a.positives || a.dueAt - b.dueAt || a.run - b.run)
    .slice(0, limit)
}

export function findCancelled(
  tables: Tables,
  ageMs: number,
  limit: number,
  now: number,
): readonly CancelledRun[] {
  return [...tables.runs.values()]
    .filter((run) => isDue(run, now) && run.cancelAt !== null && run.cancelAt <= now - ageMs)
    .sort((a, b) => (a.cancelAt ?? 0) - (b.cancelAt ?? 0) || a.run - b.run)
    .slice(0, limit)
    .map(({ run, procedure, version }) => ({ run, procedure, version }))
}

export function takeCancelled(
  tables: Tables,
  worker: WorkerKey,
  keys: readonly RunKey[],
  now: number,
): readonly Claimed[] {
  if (!isAlive(tables, worker)) return []
  return keys.flatMap((key) => {
    const run = tables.runsByKey.get(key)
    if (!run || run.cancelAt === null || !isDue(run, now)) return []
    return ownRun(run, worker, run.version)
  })
}

export function endTest({ runs }: Tables, worker: WorkerKey): void {
  for (const run of runs.values()) if (run.worker === worker) run.isTested = false
}

export function retryStuck({ runs }: Tables, claimant: Claimant, now: number): number {
  const stuck = [...runs.values()].filter(
    (run) => run.mark === 'stuck' && run.worker === null && !isDue(run, now) && canExecute(run, claimant),
  )
  for (const run of stuck) run.wakeAt = now
  return stuck.length
}

function claimIfDue(tables: Tables, run: RunRecord, claimant: Claimant, now: number): Claimed | null {
  const version = chooseVersion(claimant.procedures, run.procedure, run.version)
  if (version === undefined || !canClaim(run, claimant)) return null
  if (!isDue(run, now) || !isAlive(tables, claimant.worker)) return null
  return ownRun(run, claimant.worker, version)
}

function ownRun(run: RunRecord, worker: WorkerKey, version: number | null): Claimed {
  Object.assign(run, { version, worker, epoch: run.epoch + 1, wakeAt: null, isTested: isSuspect(run) })
  const { mark } = run
  return showClaimed({ ...run, version: version ?? 0, head: headOf(run), mark: markCode.numberOf[mark] })
}

function findNextDue({ runs }: Tables, claimant: Claimant): number | null {
  let next: number | null = null
  for (const run of runs.values()) {
    const isSooner = run.worker === null && run.wakeAt !== null && (next === null || run.wakeAt < next)
    if (isSooner && canClaim(run, claimant)) next = run.wakeAt
  }
  return next
}
