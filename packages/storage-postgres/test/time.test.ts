import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  changeUrl,
  empty,
  makeDatabase,
  runOn,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { createOwned, newRun, newUnit, open, order } from './support/units.ts'

const day = 24 * 3_600_000

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
afterEach(async () => {
  vi.useRealTimers()
  await empty(database.owner, 'pawl')
})

for (const [skew, ms] of [
  ['a day fast', day],
  ['a day slow', -day],
] as const) {
  test(`a worker whose clock is ${skew} keeps its lease and claims nothing early`, async () => {
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + ms })
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    await port.log.commit(worker, [newUnit(a, { next: { do: 'park', wakeAt: now + day / 2 } })])
    expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
    expect(await port.workers.sweep()).toBe(0)
    expect(await port.workers.beat(worker)).toBe(true)
    expect(Math.abs((await port.now()) - now)).toBeLessThan(60_000)
    for (const { at } of await port.log.load(a.run, 0, 10)) expect(Math.abs(at - now)).toBeLessThan(60_000)
  })
}

test('the time zones of the server and of the session have no effect', async () => {
  const name = new URL(database.url).pathname.slice(1)
  const admin = changeUrl(database.ownerUrl, { database: 'postgres' })
  await runOn(admin, `alter database ${name} set timezone = 'Pacific/Kiritimati'`)
  const far = await open(postgres(database.url))
  expect(Math.abs((await far.now()) - (await port.now()))).toBeLessThan(60_000)
  await far.close()
  await runOn(admin, `alter database ${name} reset timezone`)
})

test('times of any year are read as written', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const instants = [
    2 ** 31,
    2 ** 31 * 1_000,
    Date.UTC(2038, 0, 19, 3, 14, 8),
    Date.UTC(9999, 11, 31),
    Number.MAX_SAFE_INTEGER,
  ]
  const standings = await createOwned(
    port,
    worker,
    instants.map((_, index) => `run ${index}`),
  )
  const units = standings.map((standing, index) =>
    newUnit(standing, { next: { do: 'park', wakeAt: instants[index] ?? null } }),
  )
  await port.log.commit(worker, units)
  const found = await Promise.all(standings.map((_, index) => port.runs.find(`run ${index}`)))
  expect(found.map((row) => row?.wakeAt)).toEqual(instants)
})

test('a server whose clock was set back an hour lets no stale owner write', async () => {
  // What the rows look like then: written in the future.
  const dead = await port.workers.register({ name: 'dead', leaseMs: 1 })
  const [a] = await createOwned(port, dead, ['a'])
  if (!a) throw new Error('not created')
  await port.runs.create([newRun('b')])
  await database.owner.query(
    'update pawl.workers set beat_at = beat_at + 3600000; update pawl.runs set wake_at = wake_at + 3600000',
  )
  // Until its time has come again a dead worker is taken for a live one, and what was due waits: later, not wrong.
  expect(await port.workers.sweep()).toBe(0)
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  expect(await port.claims.claim({ worker, procedures: [order] }, 10)).toMatchObject({
    runs: [],
    nextDueAt: expect.any(Number),
  })
  expect(await port.log.commit(worker, [newUnit(a)])).toEqual([{ outcome: 'fenced' }])
  expect(await port.log.commit(dead, [newUnit(a)])).toMatchObject([{ outcome: 'ok' }])
})

test('renewing a lease is one statement about one row, however many runs there are', async () => {
  const pool = new RecordingPool(database.url)
  const busy = await open(postgres({ pool }))
  const worker = await busy.workers.register({ name: 'w', leaseMs: 60_000 })
  await createOwned(
    busy,
    worker,
    Array.from({ length: 1_000 }, (_, index) => `run ${index}`),
  )
  pool.statements.length = 0
  expect(await busy.workers.beat(worker)).toBe(true)
  expect(pool.statements).toHaveLength(1)
  expect(pool.statements[0]?.text).not.toContain('"runs"')
  await busy.close()
  await pool.end()
})
