import {
  isSuspect,
  type NewWorker,
  type ProcedureVersions,
  type WorkerKey,
  type WorkerRow,
} from '@pawl/core/storage'
import { isAlive } from '../ownership.ts'
import type { RunRecord, Tables, WorkerRecord } from '../tables.ts'

export function addWorker(
  { workers }: Tables,
  { name, leaseMs, procedures, inputs }: NewWorker,
  now: number,
): WorkerRecord {
  const worker = workers.size + 1
  const record: WorkerRecord = {
    ...{ worker, name, leaseMs, procedures: procedures ?? null, inputs: inputs ?? null },
    ...{ startedAt: now, beatAt: now, isDead: false, tested: 0 },
  }
  workers.set(worker, record)
  return record
}

export function beat({ workers }: Tables, worker: WorkerKey, now: number): boolean {
  const record = workers.get(worker)
  if (!record || record.isDead) return false
  record.beatAt = now
  return true
}

export function sweep(tables: Tables, now: number): number {
  for (const record of tables.workers.values())
    if (record.beatAt + record.leaseMs < now) declareDead(tables, record)
  const orphans = [...tables.runs.values()].filter(
    ({ worker }) => worker !== null && !isAlive(tables, worker),
  )
  for (const run of orphans) {
    blame(run, tables.workers.get(run.worker ?? -1)?.tested ?? 0)
    handBack(run, now)
  }
  return orphans.length
}

export function listAbilities({ workers }: Tables, now: number): readonly ProcedureVersions[] | null {
  const live = [...workers.values()].filter(
    ({ isDead, beatAt, leaseMs }) => !isDead && beatAt + leaseMs >= now,
  )
  return live.some(({ procedures }) => procedures === null)
    ? null
    : live.flatMap(({ procedures }) => procedures ?? [])
}

export function listWorkers({ workers, runs }: Tables, now: number): readonly WorkerRow[] {
  return [...workers.values()]
    .filter(({ isDead, beatAt, leaseMs }) => !isDead && beatAt + leaseMs >= now)
    .map(({ worker, name, startedAt, beatAt, leaseMs, procedures, inputs }) => ({
      ...{ worker, name, startedAt, beatAt, leaseMs, procedures, inputs },
      runs: [...runs.values()].filter((run) => run.worker === worker).length,
    }))
}

export function release(tables: Tables, worker: WorkerKey, now: number): void {
  for (const run of tables.runs.values()) if (run.worker === worker) handBack(run, now)
  const record = tables.workers.get(worker)
  if (record) declareDead(tables, record)
}

export function declareDead({ runs }: Tables, worker: WorkerRecord): void {
  if (worker.isDead) return
  worker.isDead = true
  const owned = [...runs.values()].filter((run) => run.worker === worker.worker)
  worker.tested = owned.filter((run) => isSuspect(run) && run.isTested).length
}

/** Updates the crash counters of a run whose worker died while it tested `tested` runs. */
function blame(run: RunRecord, tested: number): void {
  if (!isSuspect(run)) Object.assign(run, { positives: 0, alone: 0 })
  else if (run.isTested) {
    run.positives++
    if (tested === 1) run.alone++
  } else if (tested > 0) run.alone = 0
  run.tries++
}

function handBack(run: RunRecord, now: number): void {
  Object.assign(run, { worker: null, epoch: run.epoch + 1, wakeAt: now })
}
