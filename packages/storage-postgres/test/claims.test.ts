import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { empty } from './support/place.ts'
import { newEvent, newRun, newUnit, open, order } from './support/units.ts'

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
  test('each get something, nobody gets what another has, and the oldest goes first', async () => {
    await createDue(2_000)
    const workers = await registerAll()
    const got = new Map<number, number[]>(workers.map((worker) => [worker, []]))
    const longest: number[] = []
    await Promise.all(
      workers.map(async (worker, index) => {
        const port = ports[index % ports.length] as StorePort
        for (let lastAt = performance.now(); ; ) {
          const { runs } = await port.claim({ worker, procedures: [order] }, 5)
          if (runs.length === 0) return
          longest.push(performance.now() - lastAt)
          lastAt = performance.now()
          got.get(worker)?.push(...runs.map(({ run }) => run))
        }
      }),
    )
    const all = [...got.values()].flat()
    expect(all).toHaveLength(2_000)
    expect(new Set(all).size).toBe(2_000)
    expect(Math.min(...[...got.values()].map(({ length }) => length))).toBeGreaterThan(0)
    expect(Math.max(...longest)).toBeLessThan(5_000)
  })

  test('take the longest due first, whatever the procedure and the version', async () => {
    await database.owner.query(`select setval('pawl.runs_run_seq', 1000)`)
    const port = ports[0] as StorePort
    await port.create(
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
    const worker = await port.register({ name: 'w', leaseMs: 60_000 })
    const claimant = { worker, procedures: [order, { name: 'refund', versions: [1] }] }
    const taken: string[] = []
    for (;;) {
      const { runs } = await port.claim(claimant, 7)
      if (runs.length === 0) break
      taken.push(...runs.map(({ id }) => id))
    }
    expect(taken).toEqual(rows.map(({ id }) => id))
  })
})

test('runs that nobody here can execute cost a claim nothing', async () => {
  await database.owner.query(`
    insert into pawl.runs (run, wake_at, created_at, epoch, head, version, id, procedure, link)
      select nextval('pawl.runs_run_seq'), i, 1, 1, 1, 1, 'other ' || i, 'other', '' from generate_series(1, 20000) i`)
  await database.owner.query('analyze pawl.runs')
  const port = ports[0] as StorePort
  await port.create([newRun('a')])
  const worker = await port.register({ name: 'w', leaseMs: 60_000 })
  const { rows } = await database.owner.query(
    `explain (analyze, buffers, format json) select run from pawl.runs r
     where worker is null and wake_at <= 9e15::bigint and procedure = 'order' and coalesce(version, -1) = 1 order by wake_at limit 10`,
  )
  const [plan] = rows[0]['QUERY PLAN']
  expect(plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks']).toBeLessThan(20)
  expect((await port.claim({ worker, procedures: [order] }, 10)).runs).toMatchObject([{ id: 'a' }])
})

test('claiming and parking again and again leaves few dead rows behind', async () => {
  await database.owner.query('truncate pawl.runs, pawl.run_info, pawl.events')
  await createDue(100)
  const port = ports[0] as StorePort
  const worker = await port.register({ name: 'w', leaseMs: 60_000 })
  for (let round = 0; round < 20; round++) {
    const { runs } = await port.claim({ worker, procedures: [order] }, 100)
    expect(runs).toHaveLength(100)
    const units = runs.map(({ run, epoch, head, mail }) =>
      newUnit({ run, epoch, head, mail }, { events: [newEvent('tick')], then: { do: 'park', wakeAt: 1 } }),
    )
    await port.commit(worker, units)
  }
  const { rows } = await database.owner.query(
    `select reloptions from pg_class where oid = 'pawl.runs'::regclass`,
  )
  expect(rows[0].reloptions).toContain('autovacuum_vacuum_scale_factor=0.02')
  await database.owner.query('vacuum pawl.runs')
  const size = await database.owner.query(`select pg_relation_size('pawl.runs')::int as size`)
  expect(size.rows[0].size).toBeLessThan(2 ** 20)
})

async function createDue(count: number): Promise<void> {
  const port = ports[0] as StorePort
  await port.create(Array.from({ length: count }, (_, index) => newRun(`run ${index}`)))
}

function registerAll(): Promise<number[]> {
  return Promise.all(
    Array.from({ length: claimers }, (_, index) =>
      (ports[index % ports.length] as StorePort).register({ name: `claimer ${index}`, leaseMs: 60_000 }),
    ),
  )
}
