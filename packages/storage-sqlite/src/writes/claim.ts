import {
  type CancelledRun,
  type Claimant,
  type Claimed,
  type ClaimedRow,
  chooseVersion,
  isSuspect,
  maxPositives,
  type RunKey,
  type Suspect,
  showClaimed,
  suspectTries,
  type WorkerKey,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { prepareIsAlive } from './workers.ts'

export interface ClaimWrites {
  /** Finds due runs that the claimant can execute, the longest due first. Only reads. */
  findDue(claimant: Claimant, limit: number, at: number): readonly RunKey[]
  /** Returns the due time of the next run that the claimant would claim. It may be in the past. */
  findNextDue(claimant: Claimant): number | null
  /** Returns whether there are due suspects that the claimant does not claim. Only reads. */
  leavesSuspects(claimant: Claimant, at: number): boolean
  /** Finds due suspects that the claimant can execute. Only reads. */
  findSuspects(claimant: Claimant, limit: number, at: number): readonly Suspect[]
  /** Lists due runs whose cancel was requested by `requestedBy`, the oldest request first. Only reads. */
  findCancelled(requestedBy: number, limit: number, at: number): readonly CancelledRun[]
  /** Claims the run if it is due and its cancel was requested, whatever code it needs. */
  claimCancelled(run: RunKey, worker: WorkerKey, at: number): Claimed | null
  /** Claims the run if it is due and the claimant is alive and can execute it. */
  claim(run: RunKey, claimant: Claimant, at: number): Claimed | null
  /** Ends the test of all runs that the worker tests. */
  endTest(worker: WorkerKey): void
  retryStuck(claimant: Claimant, at: number): number
}

export function prepareClaims(database: Database): ClaimWrites {
  // Suspects with at most this many positives, and all other runs.
  const isTaken = `(tries < ${suspectTries} or positives <= ?)`
  // SQLite needs both null terms to use the index of due runs.
  const unowned = 'worker is null and wake_at is not null and procedure = ? and version is ?'
  const findDue = database.prepare<[string, number | null, number, number, number], DueRow>(
    `select run, wake_at from runs where ${unowned} and wake_at <= ? and ${isTaken} order by wake_at, run limit ?`,
  )
  const findNext = database
    .prepare<[string, number | null, number], number>(
      `select wake_at from runs where ${unowned} and ${isTaken} order by wake_at limit 1`,
    )
    .pluck()
  // Repeats the condition of the index of suspects.
  const isDueSuspect = `tries > ${suspectTries - 1} and worker is null and wake_at is not null and wake_at <= ?`
  const findLeft = database.prepare<[number, number]>(
    `select 1 from runs where ${isDueSuspect} and positives > ? limit 1`,
  )
  const findSuspects = database.prepare<[number], SuspectRow>(
    `select run, procedure, version, tries, positives, alone, wake_at from runs
     where ${isDueSuspect} order by positives desc, wake_at, run`,
  )
  const read = database.prepare<[RunKey, number], ClaimRow>(
    `select run, id, procedure, version, epoch, head, base, mail, tries, positives, alone, mark, link from runs
     where run = ? and worker is null and wake_at <= ?`,
  )
  const take = database.prepare(
    `update runs set worker = ?, version = ?, epoch = epoch + 1, wake_at = null, tested = tries >= ${suspectTries}
     where run = ?`,
  )
  // `mark <> 0` is the condition of the index of marked runs.
  const retry = database.prepare(
    `update runs set wake_at = ? where mark <> 0 and mark = 1 and state = 0 and worker is null
     and (wake_at is null or wake_at > ?) and procedure = ? and version is ?`,
  )
  const endTest = database.prepare('update runs set tested = 0 where worker = ? and tested = 1')
  // Contains the condition of the index of cancelled runs.
  const findCancelled = database.prepare<[number, number, number], CancelledRun>(
    `select run, procedure, version from runs
     where cancel_at is not null and state = 0 and cancel_at <= ? and worker is null and wake_at <= ?
     order by cancel_at, run limit ?`,
  )
  const isCancelled = database.prepare<[RunKey]>(
    'select 1 from runs where run = ? and cancel_at is not null and state = 0',
  )
  const isAlive = prepareIsAlive(database)

  return {
    findDue(claimant, limit, at) {
      return listPairs(claimant)
        .flatMap(([procedure, version]) => findDue.all(procedure, version, at, maxPositives(claimant), limit))
        .sort((a, b) => a.wake_at - b.wake_at || a.run - b.run)
        .slice(0, limit)
        .map(({ run }) => run)
    },
    findNextDue(claimant) {
      const times = listPairs(claimant).flatMap(
        ([procedure, version]) => findNext.get(procedure, version, maxPositives(claimant)) ?? [],
      )
      return times.length > 0 ? Math.min(...times) : null
    },
    leavesSuspects: (claimant, at) => findLeft.get(at, maxPositives(claimant)) !== undefined,
    findSuspects(claimant, limit, at) {
      const found: Suspect[] = []
      for (const row of findSuspects.iterate(at)) {
        if (found.length >= limit) break
        const { run, tries, positives, alone, wake_at } = row
        if (chooseVersion(claimant.procedures, row.procedure, row.version) !== undefined)
          found.push({ run, tries, positives, alone, dueAt: wake_at })
      }
      return found
    },
    claim(run, claimant, at) {
      const row = read.get(run, at)
      const version = row && chooseVersion(claimant.procedures, row.procedure, row.version)
      if (!row || version === undefined || !isAlive(claimant.worker)) return null
      // A damaged row stays unclaimed and does not block other rows.
      if (![row.epoch, row.head, row.base, row.mail].every(Number.isSafeInteger)) return null
      if (isSuspect(row) && row.positives > maxPositives(claimant)) return null
      take.run(claimant.worker, version, run)
      return showClaimed({ ...row, version, epoch: row.epoch + 1 })
    },
    findCancelled: (requestedBy, limit, at) => findCancelled.all(requestedBy, at, limit),
    claimCancelled(run, worker, at) {
      const row = isCancelled.get(run) === undefined ? undefined : read.get(run, at)
      if (!row || !isAlive(worker)) return null
      if (![row.epoch, row.head, row.base, row.mail].every(Number.isSafeInteger)) return null
      take.run(worker, row.version, run)
      return showClaimed({ ...row, version: row.version ?? 0, epoch: row.epoch + 1 })
    },
    endTest: (worker) => void endTest.run(worker),
    retryStuck(claimant, at) {
      const counts = listPairs(claimant).map(
        ([procedure, version]) => retry.run(at, at, procedure, version).changes,
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

/** Lists the procedures and versions that the claimant can execute, including runs without a version. */
function listPairs({ procedures }: Claimant): (readonly [procedure: string, version: number | null])[] {
  return procedures
    .filter(({ versions }) => versions.length > 0)
    .flatMap(({ name, versions }) => [null, ...versions].map((version) => [name, version] as const))
}

interface DueRow {
  readonly run: RunKey
  readonly wake_at: number
}
interface SuspectRow {
  readonly run: RunKey
  readonly procedure: string
  readonly version: number | null
  readonly tries: number
  readonly positives: number
  readonly alone: number
  readonly wake_at: number
}
type ClaimRow = Omit<ClaimedRow, 'version'> & { readonly version: number | null }
