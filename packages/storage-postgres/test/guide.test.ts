import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { empty, makeDatabase, readGuide, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { bytes, createOwned, newEvent, newRun, newUnit, open, order } from './support/units.ts'

// What docs/guides/postgres.md says and no other test is about.

let database: TestDatabase
let port: StorePort
beforeAll(async () => {
  database = await makeDatabase()
  port = await open(postgres(database.url))
})
afterAll(async () => {
  await port.close()
  await database.remove()
})
afterEach(() => empty(database.owner, 'pawl'))

test('the queries of the guide show due runs and the owners of runs', async () => {
  const worker = await port.workers.register({ name: 'host 7', leaseMs: 60_000 })
  await createOwned(port, worker, ['a', 'b'])
  await port.runs.create([newRun('c'), newRun('d', { procedure: 'refund', version: 2 })])
  const guide = readGuide('select procedure')
  const [due, owned] = (await database.owner.query(guide)) as unknown as readonly [Result, Result]
  expect(due.rows).toMatchObject([
    { procedure: 'order', version: 1, count: '1' },
    { procedure: 'refund', version: 2, count: '1' },
  ])
  expect(owned.rows).toMatchObject([{ name: 'host 7', dead: false, runs: '2' }])
})

test('in a restored copy no worker of the original can write, and owned runs are due', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a, b] = await createOwned(port, worker, ['a', 'b'])
  if (!a || !b) throw new Error('not created')
  await port.log.commit(worker, [newUnit(b, { next: { do: 'park', wakeAt: null } })])
  await database.owner.query(readGuide('update pawl.workers'))
  expect(await port.log.commit(worker, [newUnit(a)])).toEqual([{ outcome: 'fenced' }])
  expect(await port.workers.beat(worker)).toBe(false)
  const heir = await port.workers.register({ name: 'heir', leaseMs: 60_000 })
  expect((await port.claims.claim({ worker: heir, procedures: [order] }, 10)).runs).toMatchObject([
    { id: 'a', epoch: 1_002 },
  ])
})

test('a quarantined run resumes when it is retried', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a, b] = await createOwned(port, worker, ['order 7', 'order 8'])
  if (!a || !b) throw new Error('not created')
  for (const { run, epoch } of [a, b])
    await port.runs.mark(worker, run, epoch, 'quarantined', bytes('behind'))
  const claim = () => port.claims.claim({ worker, procedures: [order] }, 10)
  expect((await claim()).runs).toEqual([])
  await database.owner.query(readGuide('update pawl.runs set mark'))
  expect((await claim()).runs).toMatchObject([{ id: 'order 7', mark: 'none', tries: 0 }])
})

test('a recorded step takes about as many bytes as the guide says', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  await database.owner.query('truncate pawl.events, pawl.runs, pawl.run_info')
  const standings = await createOwned(
    port,
    worker,
    Array.from({ length: 200 }, (_, index) => `order:${index}`),
  )
  const runs = await sizeOf(['runs', 'run_info', 'events'])
  const before = await sizeOf(['events'])
  for (let head = 1; head <= 50; head++) {
    const events = [newEvent('charge card', { payload: bytes('a result of thirty bytes or so') })]
    await port.log.commit(
      worker,
      standings.map((standing) => newUnit({ ...standing, head }, { events })),
    )
  }
  const step = ((await sizeOf(['events'])) - before) / (200 * 50)
  console.log({ bytesPerStep: Math.round(step), bytesPerRun: Math.round(runs / 200) })
  expect(step).toBeLessThan(180)
})

interface Result {
  readonly rows: readonly unknown[]
}

async function sizeOf(tables: readonly string[]): Promise<number> {
  const { rows } = await database.owner.query(
    `select sum(pg_total_relation_size(('pawl.' || name)::regclass))::int as size from unnest($1::text[]) name`,
    [tables],
  )
  return rows[0].size
}
