import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import {
  empty,
  isServerGiven,
  makeDatabase,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { explain } from './support/explain.ts'
import { newRun, newUnit, open, order } from './support/units.ts'

const claimers = 200

let database: TestDatabase
let pool: pg.Pool
let ports: StorePort[]
beforeAll(async () => {
  database = await makeDatabase()
  // Far fewer connections than claimers: they take turns, as processes with small pools do.
  pool = new pg.Pool({ connectionString: database.url, max: 40 })
  ports = await Promise.all(
    Array.from({ length: 4 }, () => open(postgres({ pool }, { notifications: false }))),
  )
})
afterAll(async () => {
  await Promise.all(ports.map((port) => port.close()))
  await pool.end()
  await database.remove()
})
afterEach(() => empty(database.owner, 'pawl'))

describe('two hundred claimers of one kind of run', () => {
  test('two hundred concurrent claims of one kind of run are disjoint, not empty, and in order of age', async () => {
    await createDue(2_000)
    const workers = await registerAll()
    const got = new Map<number, number[]>(workers.map((worker) => [worker, []]))
    await Promise.all(
      workers.map(async (worker, index) => {
        const port = ports[index % ports.length] as StorePort
        for (;;) {
          const { runs } = await port.claims.claim({ worker, procedures: [order] }, 5)
          if (runs.length === 0) return
          got.get(worker)?.push(...runs.map(({ run }) => run))
        }
      }),
    )
    const all = [...got.values()].flat()
    expect(all).toHaveLength(2_000)
    expect(new Set(all).size).toBe(2_000)
    expect(Math.min(...[...got.values()].map(({ length }) => length))).toBeGreaterThan(0)
  })

  test('claims return the longest due first, whatever the procedure and the version', async () => {
    await database.owner.query(`select setval('pawl.runs_run_seq', 1000)`)
    const port = ports[0] as StorePort
    await port.runs.create(
      Array.from({ length: 60 }, (_, index) =>
        newRun(`run ${index}`, {
          procedure: ['order', 'refund', 'unknown'][index % 3] ?? '',
          version: [1, 2, null][index % 4] ?? null,
        }),
      ),
    )
    await database.owner.query('update pawl.runs set wake_at = 1000 + (run * 7919) % 61')
    const { rows } = await database.owner.query(
      `select id from pawl.runs where procedure <> 'unknown' and (version is null or version = 1) order by wake_at, run`,
    )
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const claimant = { worker, procedures: [order, { name: 'refund', versions: [1] }] }
    const taken: string[] = []
    for (;;) {
      const { runs } = await port.claims.claim(claimant, 7)
      if (runs.length === 0) break
      taken.push(...runs.map(({ id }) => id))
    }
    expect(taken).toEqual(rows.map(({ id }) => id))
  })
})

test('runs that no worker here can execute do not slow a claim', async () => {
  await database.owner.query(`
    insert into pawl.runs (run, wake_at, created_at, epoch, head, version, id, procedure, link)
      select nextval('pawl.runs_run_seq'), i, 1, 1, 1, 1, 'other ' || i, 'other', '' from generate_series(1, 20000) i`)
  await database.owner.query('analyze pawl.runs')
  const recording = new RecordingPool(database.url)
  const port = await open(postgres({ pool: recording }, { notifications: false }))
  onTestFinished(async () => {
    await port.close()
    await recording.end()
  })
  await port.runs.create([newRun('a')])
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toMatchObject([{ id: 'a' }])
  await port.runs.create([newRun('b')])
  const { rows, text } = await explain(database.owner, recording.last('skip locked', 'ability'))
  expect(rows, text).toBeLessThan(60)
})

test('the backlog is read kind by kind, and counts at most a thousand runs of each', async () => {
  await database.owner.query(`
    insert into pawl.runs (run, wake_at, created_at, epoch, head, version, id, procedure, link)
      select nextval('pawl.runs_run_seq'), i, 1, 1, 1, nullif(i % 2, 0), 'run ' || i, 'kind ' || i % 3, ''
      from generate_series(1, 30000) i`)
  await database.owner.query('analyze pawl.runs')
  const recording = new RecordingPool(database.url)
  const port = await open(postgres({ pool: recording }, { notifications: false }))
  onTestFinished(async () => {
    await port.close()
    await recording.end()
  })
  expect(await port.claims.backlog()).toEqual(
    [0, 1, 2].flatMap((kind) => [
      {
        procedure: `kind ${kind}`,
        version: null,
        oldest: `run ${kind === 0 ? 6 : kind === 1 ? 4 : 2}`,
        count: 1_000,
      },
      {
        procedure: `kind ${kind}`,
        version: 1,
        oldest: `run ${kind === 0 ? 3 : kind === 1 ? 1 : 5}`,
        count: 1_000,
      },
    ]),
  )
  const { rows, text } = await explain(database.owner, recording.last('recursive kind'))
  expect(rows, text).toBeLessThan(6 * 1_000 + 100)
})

test('claiming and parking leave two dead rows of a run, and its steps few', async () => {
  // Not beside others: while a long transaction writes anywhere on a server, no dead row is cleaned up on it.
  const server = isServerGiven ? undefined : await PostgresServer.start()
  onTestFinished(() => server?.remove())
  const own = await makeDatabase(server === undefined ? {} : { server: server.url() })
  onTestFinished(() => own.remove())
  const port = await open(postgres(own.url, { notifications: false }))
  const [runs, rounds, steps] = [100, 20, 3]
  await port.runs.create(Array.from({ length: runs }, (_, index) => newRun(`run ${index}`)))
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  for (let round = 0; round < rounds; round++) {
    const claimed = (await port.claims.claim({ worker, procedures: [order] }, runs)).runs
    expect(claimed).toHaveLength(runs)
    const commit = (step: number, overrides: Parameters<typeof newUnit>[1] = {}) =>
      port.log.commit(
        worker,
        claimed.map((run) => newUnit({ ...run, head: run.head + step }, overrides)),
      )
    for (let step = 0; step < steps; step++) await commit(step)
    await commit(steps, { next: { do: 'park', wakeAt: 1 } })
  }
  // The server counts what a connection did when that ends, at the latest.
  await port.close()
  const count = async () => {
    const { rows } = await own.owner.query(
      `select n_tup_upd::int as updated, n_dead_tup::int as dead from pg_stat_user_tables where relid = 'pawl.runs'::regclass`,
    )
    return rows[0]
  }
  await expect.poll(count).toMatchObject({ updated: runs * rounds * (steps + 2) })
  const { dead } = await count()
  // A page without room for a step's update moves the row; a step that changed an index would always leave one, five in all.
  expect(dead).toBeLessThan(runs * rounds * 4)
  const { rows } = await own.owner.query(`select reloptions from pg_class where oid = 'pawl.runs'::regclass`)
  expect(rows[0].reloptions).toContain('autovacuum_vacuum_scale_factor=0.02')
})

async function createDue(count: number): Promise<void> {
  const port = ports[0] as StorePort
  await port.runs.create(Array.from({ length: count }, (_, index) => newRun(`run ${index}`)))
}

function registerAll(): Promise<number[]> {
  return Promise.all(
    Array.from({ length: claimers }, (_, index) =>
      (ports[index % ports.length] as StorePort).workers.register({
        name: `claimer ${index}`,
        leaseMs: 60_000,
      }),
    ),
  )
}

test('runs claimed by a send whose second statement failed are returned by later claims', async () => {
  const port = await open(postgres({ pool }, { notifications: false }))
  const worker = await port.workers.register({ name: 'sender', leaseMs: 60_000 })
  const claimant = { worker, procedures: [order] }
  const ids = Array.from({ length: 5 }, (_, index) => `run ${index}`)
  await port.runs.create(ids.map((id) => newRun(id)))
  const { runs } = await port.claims.claim(claimant, 10)
  for (const run of runs)
    await port.log.commit(worker, [newUnit(run, { events: [], next: { do: 'park', wakeAt: null } })])

  // More than one statement carries; the name of the last message cannot be written out.
  const payload = new Uint8Array(1_700_000)
  const names = [...ids.map(() => 'x'), 5 as never]
  const messages = names.map((name, index) => ({
    run: ids[index] ?? 'other',
    kind: 'signal' as const,
    name,
    key: null,
    by: null,
    payload,
  }))
  await expect(port.mail.send(messages, claimant)).rejects.toThrow(TypeError)

  const handedOver = new Set<string>()
  for (let claims = 0; claims < 3; claims++)
    for (const { id } of (await port.claims.claim(claimant, 10)).runs) handedOver.add(id)
  expect([...handedOver].sort()).toEqual(ids.slice(0, 4))
  await port.close()
})
