import { type Claimant, type Claimed, markCode, type RunKey } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import { prepareIsAlive } from './workers.ts'

export interface ClaimWrites {
  /** The runs that are due and that the claimant can execute, the longest due first. Only reads. */
  findDue(claimant: Claimant, limit: number, at: number): readonly RunKey[]
  /** When the next run is due that the claimant can execute; it may be due already. */
  findNextDue(claimant: Claimant): number | null
  /** Takes the run if it is due, the claimant can execute it, and the claimant is alive. */
  claim(run: RunKey, claimant: Claimant, at: number): Claimed | null
  retryStuck(claimant: Claimant, at: number): number
}

export function prepareClaims(database: Database): ClaimWrites {
  // Both terms on null are what lets SQLite use the index of due runs.
  const unowned = 'worker is null and wake_at is not null and procedure = ? and version is ?'
  const findDue = database.prepare<[string, number | null, number, number, number], DueRow>(
    `select run, wake_at from runs where ${unowned} and wake_at <= ? and tries <= ? order by wake_at, run limit ?`,
  )
  const findNext = database
    .prepare<[string, number | null], number>(`select min(wake_at) from runs where ${unowned}`)
    .pluck()
  const read = database.prepare<[RunKey, number], ClaimRow>(
    `select run, id, procedure, version, epoch, head, mail, tries, mark, link from runs
     where run = ? and worker is null and wake_at <= ?`,
  )
  const take = database.prepare(
    'update runs set worker = ?, version = ?, epoch = epoch + 1, wake_at = null where run = ?',
  )
  // `mark <> 0` is the condition of the index of marked runs.
  const retry = database.prepare(
    `update runs set wake_at = ? where mark <> 0 and mark = 1 and state = 0 and worker is null and wake_at is null
     and procedure = ? and version is ?`,
  )
  const isAlive = prepareIsAlive(database)

  return {
    findDue(claimant, limit, at) {
      return listPairs(claimant)
        .flatMap(([procedure, version]) => findDue.all(procedure, version, at, maxTriesOf(claimant), limit))
        .sort((a, b) => a.wake_at - b.wake_at || a.run - b.run)
        .slice(0, limit)
        .map(({ run }) => run)
    },
    findNextDue(claimant) {
      const times = listPairs(claimant).flatMap(
        ([procedure, version]) => findNext.get(procedure, version) ?? [],
      )
      return times.length > 0 ? Math.min(...times) : null
    },
    claim(run, claimant, at) {
      const row = read.get(run, at)
      const version = row && chooseVersion(row, claimant)
      if (!row || version === undefined || row.tries > maxTriesOf(claimant) || !isAlive(claimant.worker))
        return null
      // A row that is damaged stays where it is, and keeps no other from being claimed.
      if (![row.epoch, row.head, row.mail].every(Number.isSafeInteger)) return null
      take.run(claimant.worker, version, run)
      const { id, procedure, epoch, head, mail, tries, mark, link } = row
      return {
        run,
        id,
        procedure,
        version,
        epoch: epoch + 1,
        head,
        mail,
        tries,
        mark: markCode.wordIfKnown(mark),
        link,
      }
    },
    retryStuck(claimant, at) {
      const counts = listPairs(claimant).map(
        ([procedure, version]) => retry.run(at, procedure, version).changes,
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

function maxTriesOf({ maxTries }: Claimant): number {
  return maxTries ?? Number.MAX_SAFE_INTEGER
}

/** Everything the claimant can execute, runs that have no version yet included. */
function listPairs({ procedures }: Claimant): (readonly [procedure: string, version: number | null])[] {
  return procedures
    .filter(({ versions }) => versions.length > 0)
    .flatMap(({ name, versions }) => [null, ...versions].map((version) => [name, version] as const))
}

function chooseVersion({ procedure, version }: ClaimRow, { procedures }: Claimant): number | undefined {
  const versions = procedures.find(({ name }) => name === procedure)?.versions ?? []
  if (version !== null) return versions.includes(version) ? version : undefined
  return versions.length > 0 ? Math.max(...versions) : undefined
}

interface DueRow {
  readonly run: RunKey
  readonly wake_at: number
}
interface ClaimRow {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly epoch: number
  readonly head: number
  readonly mail: number
  readonly tries: number
  readonly mark: number
  readonly link: Uint8Array
}
