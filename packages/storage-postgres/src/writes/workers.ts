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
import { listBigints } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { classify } from '../faults.ts'
import { type Names, storeTime } from '../names.ts'
import { unusable } from '../unusable.ts'

export interface Workers {
  register(worker: NewWorker): Promise<WorkerKey>
  beat(worker: WorkerKey): Promise<boolean>
  sweep(): Promise<number>
  abilities(): Promise<readonly ProcedureVersions[] | null>
  listWorkers(): Promise<readonly WorkerRow[]>
  release(worker: WorkerKey): Promise<void>
}

/** Two for commits, one for heartbeats, one for notifications, and at least one for all other work. */
const minConnections = 5
/** Maximum runs released in one transaction. */
const batchSize = 1_000

export function prepareWorkers(database: Database, ownership: Ownership): Workers {
  const statements = writeStatements(database.names)
  // A lease must not expire because all other connections are busy.
  const heart = database.reserve()
  const leases = new Map<WorkerKey, number>()
  const own = identifyOwnProcess()

  /** Workers on this machine are dead as soon as their process is gone, without waiting for the lease. */
  async function buryGone(): Promise<void> {
    if (own.machine === null) return
    const neighbours = await database.run<Neighbour>(statements.findNeighbours, [own.machine])
    const gone = neighbours.filter((other) => isProcessGone(other, own)).map(({ worker }) => worker)
    if (gone.length === 0) return
    try {
      await database.run(statements.buryGone, [listBigints(gone)])
    } catch (error) {
      // Without permission to read the server's sessions, wait for the lease to expire.
      if (classify(error) !== 'final') throw error
    }
  }

  async function handBack(statement: Statement, values: readonly Value[]): Promise<number> {
    for (let total = 0; ; ) {
      const { length } = await database.run(statement, values)
      total += length
      if (length < batchSize) return total
    }
  }

  return {
    async register({ name, leaseMs, procedures, inputs = null }) {
      const { maxConnections } = database
      if (maxConnections !== undefined && maxConnections < minConnections) {
        throw unusable(
          `The pool is limited to ${maxConnections} connections; a worker reserves four of them.`,
          `Allow at least ${minConnections} connections: new Pool({ max: 10 }).`,
        )
      }
      const rows = await database.repeat(() =>
        heart.run<{ worker: number }>(statements.register, [
          name,
          leaseMs,
          own.pid,
          own.startedAt,
          own.machine,
          procedures === undefined ? null : JSON.stringify(procedures),
          inputs,
        ]),
      )
      const worker = rows[0]?.worker ?? 0
      leases.set(worker, leaseMs)
      return worker
    },
    async beat(worker) {
      // A connection silent for a third of the lease is abandoned while there is time for another attempt.
      const rows = await heart.run(
        statements.beat,
        [worker],
        Math.max(250, (leases.get(worker) ?? 10_000) / 3),
      )
      if (rows.length === 0) ownership.forget(worker)
      return rows.length > 0
    },
    async sweep() {
      await buryGone()
      await database.run(statements.expire, [])
      // At every sweep: a claim may have been in progress when its worker was declared dead.
      const count = await handBack(statements.handBackDead, [batchSize])
      await database.run(statements.remove, [])
      return count
    },
    async abilities() {
      const rows = await database.repeat(() =>
        database.run<{ procedures: string | null }>(statements.listAbilities, []),
      )
      if (rows.some(({ procedures }) => procedures === null)) return null
      return rows.flatMap(({ procedures }) => JSON.parse(procedures ?? '[]') as ProcedureVersions[])
    },
    async listWorkers() {
      const rows = await database.repeat(() => database.run<StoredWorker>(statements.listWorkers, []))
      return rows.map(({ procedures, ...row }) => ({
        ...row,
        procedures: procedures === null ? null : (JSON.parse(procedures) as ProcedureVersions[]),
      }))
    },
    async release(worker) {
      await database.repeat(async () => {
        await database.run(statements.bury, [worker])
        await handBack(statements.handBack, [worker, batchSize])
      })
      ownership.forget(worker)
    },
  }
}

function writeStatements({
  workers,
  runs,
}: Names): Record<
  | 'register'
  | 'beat'
  | 'findNeighbours'
  | 'listAbilities'
  | 'listWorkers'
  | 'buryGone'
  | 'expire'
  | 'bury'
  | 'handBack'
  | 'handBackDead'
  | 'remove',
  Statement
> {
  // Counted before any of them is released.
  const bury = `dead = true, tested = (
    select count(*) from ${runs} r where r.worker = ${workers}.worker and r.tested and r.tries >= ${suspectTries})`
  // One time for all, which identifies the suspects of one death.
  const release = `worker = null, epoch = r.epoch + 1, wake_at = (select now from clock)`
  const clock = `clock as materialized (select ${storeTime} as now)`
  return {
    register: new Statement(
      `insert into ${workers} (name, lease_ms, beat_at, pid, process_started, machine, procedures, inputs, started_at, session)
       values ($1, $2, ${storeTime}, $3, $4, $5, $6, $7, ${storeTime}, pg_catalog.pg_backend_pid()) returning worker`,
    ),
    beat: new Statement(
      `update ${workers} set beat_at = ${storeTime}, session = pg_catalog.pg_backend_pid()
       where worker = $1 and not dead returning worker`,
    ),
    findNeighbours: new Statement(
      `select worker, pid, process_started as "startedAt", machine from ${workers} where not dead and machine = $1`,
    ),
    listAbilities: new Statement(
      `select distinct procedures from ${workers} where not dead and beat_at + lease_ms >= ${storeTime}`,
    ),
    listWorkers: new Statement(
      `select worker, name, started_at as "startedAt", beat_at as "beatAt", lease_ms as "leaseMs", procedures, inputs,
         (select count(*) from ${runs} r where r.worker = ${workers}.worker)::int as runs
       from ${workers} where not dead and beat_at + lease_ms >= ${storeTime} order by worker`,
    ),
    // Copies of one machine (a snapshot started twice) have the same identity but see only their own processes. So
    // the server is asked as well: a live worker has a connection.
    buryGone: new Statement(`
      update ${workers} set ${bury} where worker in (
        select worker from ${workers} where worker = any($1::bigint[]) and not dead
          and session is not null and not exists (select from pg_catalog.pg_stat_get_activity(session))
        for no key update skip locked)`),
    // A worker whose row is being renewed is alive.
    expire: new Statement(`
      update ${workers} set ${bury} where worker in (
        select worker from ${workers} where not dead and beat_at + lease_ms < ${storeTime}
        for no key update skip locked)`),
    bury: new Statement(`update ${workers} set dead = true where worker = $1`),
    // Waits for locked rows, in order, so that none is missed.
    handBack: new Statement(`
      with ${clock}, lost as materialized (
        select run from ${runs} where worker = $1 order by run limit $2 for no key update)
      update ${runs} r set ${release} from lost l where r.run = l.run returning r.run`),
    // Never waits: for rows of many workers no order of locks is safe.
    handBackDead: new Statement(`
      with ${clock}, lost as materialized (
        select r.run, w.tested from ${workers} w join ${runs} r on r.worker = w.worker
        where w.dead limit $1 for no key update of r skip locked)
      update ${runs} r set ${release}, tries = r.tries + 1,
        positives = case when r.tries < ${suspectTries} then 0
                         else least(r.positives + r.tested::int, 32767) end,
        alone = case when r.tries < ${suspectTries} then 0
                     when r.tested then least(r.alone + (l.tested = 1)::int, 32767)
                     when l.tested > 0 then 0
                     else r.alone end
      from lost l where r.run = l.run returning r.run`),
    // Kept for a day for operators, and as long as a run refers to it.
    remove: new Statement(`
      delete from ${workers} w where w.dead and w.beat_at < ${storeTime} - 86400000
        and not exists (select from ${runs} r where r.worker = w.worker)`),
  }
}

interface Neighbour extends ProcessIdentity {
  readonly worker: WorkerKey
}

interface StoredWorker extends Omit<WorkerRow, 'procedures'> {
  readonly procedures: string | null
}
