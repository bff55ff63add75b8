import {
  identifyOwnProcess,
  isProcessGone,
  type NewWorker,
  type ProcedureVersions,
  type ProcessIdentity,
  suspectTries,
  type WorkerKey,
  type WorkerRow,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export interface Workers {
  register(worker: NewWorker, at: number): WorkerKey
  beat(worker: WorkerKey, at: number): boolean
  /** Lists what the live workers can execute, or returns null if one of them has not reported it. Only reads. */
  listAbilities(at: number): readonly ProcedureVersions[] | null
  /** Lists the live workers, the oldest first. Only reads. */
  listWorkers(at: number): readonly WorkerRow[]
  /** Returns whether there is a worker to declare dead, or a run of a dead worker. Only reads. */
  findsWork(at: number): boolean
  /** Declares workers dead and hands back at most `limit` runs of dead workers. Returns their number. */
  sweep(at: number, limit: number): number
  release(worker: WorkerKey, at: number): void
}

export type IsAlive = (worker: WorkerKey) => boolean

export function prepareIsAlive(database: Database): IsAlive {
  const find = database.prepare('select 1 from workers where worker = ? and dead = 0')
  return (worker) => find.get(worker) !== undefined
}

export function prepareWorkers(database: Database): Workers {
  const own = identifyOwnProcess()
  const insert = database.prepare(
    'insert into workers (name, beat_at, started_at, lease_ms, pid, process_started, machine, procedures, inputs) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const beat = database.prepare('update workers set beat_at = ? where worker = ? and dead = 0')
  const readAll = database.prepare<[], LeaseRow>(
    'select worker, beat_at + lease_ms as ends_at, dead, pid, process_started, machine from workers',
  )
  const readAbilities = database.prepare<[], LeaseRow & { readonly procedures: string | null }>(
    'select worker, beat_at + lease_ms as ends_at, dead, pid, process_started, machine, procedures from workers',
  )
  const readShown = database.prepare<[], WorkerRecord>(
    `select worker, beat_at + lease_ms as ends_at, dead, pid, process_started, machine, procedures, inputs, name,
       started_at, beat_at, lease_ms, (select count(*) from runs where runs.worker = workers.worker) as runs
     from workers order by worker`,
  )
  const declareDead = database.prepare(
    `update workers set dead = 1, tested = (
       select count(*) from runs where runs.worker = workers.worker and tested = 1 and tries >= ${suspectTries})
     where worker = ? and dead = 0`,
  )
  const handBackSome = database.prepare(
    `update runs set worker = null, epoch = epoch + 1, wake_at = ?, tries = tries + 1,
       positives = iif(tries < ${suspectTries}, 0, positives + runs.tested),
       alone = case when tries < ${suspectTries} then 0
                    when runs.tested = 1 then alone + (w.tested = 1)
                    when w.tested > 0 then 0
                    else alone end
     from workers w
     where w.worker = runs.worker
       and run in (select run from runs where worker in (select worker from workers where dead = 1) limit ?)`,
  )
  const handBackAll = database.prepare(
    'update runs set worker = null, epoch = epoch + 1, wake_at = ? where worker = ?',
  )
  // The row of a dead worker is needed only while it owns runs. Its number is never reused.
  const forget = database.prepare(
    'delete from workers where dead = 1 and not exists (select 1 from runs where runs.worker = workers.worker)',
  )

  function isDead(row: LeaseRow, at: number): boolean {
    const identity: ProcessIdentity = { pid: row.pid, startedAt: row.process_started, machine: row.machine }
    return row.dead === 1 || row.ends_at < at || isProcessGone(identity, own)
  }

  return {
    register({ name, leaseMs, procedures, inputs = null }, at) {
      const { pid, startedAt, machine } = own
      const abilities = procedures === undefined ? null : JSON.stringify(procedures)
      return Number(
        insert.run(name, at, at, leaseMs, pid, startedAt, machine, abilities, inputs).lastInsertRowid,
      )
    },
    beat(worker, at) {
      return beat.run(at, worker).changes === 1
    },
    listAbilities(at) {
      const live = readAbilities.all().filter((row) => !isDead(row, at))
      if (live.some(({ procedures }) => procedures === null)) return null
      return live.flatMap(({ procedures }) => JSON.parse(procedures ?? '[]') as ProcedureVersions[])
    },
    listWorkers(at) {
      return readShown
        .all()
        .filter((row) => !isDead(row, at))
        .map(({ worker, name, started_at, beat_at, lease_ms, runs, procedures, inputs }) => ({
          ...{ worker, name, startedAt: started_at, beatAt: beat_at, leaseMs: lease_ms, runs, inputs },
          procedures: procedures === null ? null : (JSON.parse(procedures) as ProcedureVersions[]),
        }))
    },
    findsWork(at) {
      return readAll.all().some((row) => isDead(row, at))
    },
    sweep(at, limit) {
      for (const row of readAll.all()) if (row.dead === 0 && isDead(row, at)) declareDead.run(row.worker)
      const { changes } = handBackSome.run(at, limit)
      forget.run()
      return changes
    },
    release(worker, at) {
      handBackAll.run(at, worker)
      declareDead.run(worker)
      forget.run()
    },
  }
}

interface LeaseRow {
  readonly worker: WorkerKey
  readonly ends_at: number
  readonly dead: number
  readonly pid: number
  readonly process_started: string | null
  readonly machine: string | null
}

interface WorkerRecord extends LeaseRow {
  readonly name: string
  readonly started_at: number | null
  readonly beat_at: number
  readonly lease_ms: number
  readonly runs: number
  readonly procedures: string | null
  readonly inputs: string | null
}
