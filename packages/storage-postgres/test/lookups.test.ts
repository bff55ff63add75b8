import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { InterposedPool } from '../../../test/support/interposed-pool.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { createOwned, newAsk, newEvent, newRun, newUnit, open } from './support/units.ts'

let database: TestDatabase
let pool: RecordingPool
let port: StorePort
beforeAll(async () => {
  database = await makeDatabase()
  pool = new RecordingPool(database.url)
  port = await open(postgres({ pool }))
})
afterAll(async () => {
  await port.close()
  await pool.end()
  await database.remove()
})

test('concurrent lookups of runs share one statement, and each gets its own', async () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => `run "${n}"`)
  await port.runs.create(ids.map((id) => newRun(id)))
  const before = pool.statements.length
  const asked = [...ids.slice(1), 'nowhere', ...ids.slice(990)]
  const rows = await Promise.all(asked.map((id) => port.runs.find(id)))
  expect(rows.map((row) => row?.id)).toEqual([...ids.slice(1), undefined, ...ids.slice(990)])
  const lookups = pool.statements.slice(before).filter(({ text }) => text.includes('any($1'))
  // One is full with a thousand.
  expect(lookups).toHaveLength(2)
})

test('logs and mail of many runs are read at once in few statements', async () => {
  const payload = new Uint8Array(1_000_000)
  const created = await port.runs.create(
    Array.from({ length: 60 }, (_, n) => newRun(`wake ${n}`, { started: newEvent('started', { payload }) })),
  )
  const runs = created.map(({ run }) => run)
  const before = pool.statements.length
  const [logs] = await Promise.all([
    // So long may each be, as far as the store is told.
    Promise.all(runs.map((run) => port.log.load(run, 0, 100))),
    Promise.all(runs.map((run) => port.mail.list(run, 0))),
  ])
  expect(logs.map(([event]) => event?.payload?.length)).toEqual(runs.map(() => payload.length))
  const sent = (part: string) =>
    pool.statements.slice(before).filter(({ text }) => text.includes(part)).length
  // 60 logs of 100 events, 5,000 in one.
  expect(sent('string_agg')).toBe(2)
  expect(sent('not used')).toBe(1)
  // Four payloads of 1 MB in one.
  expect(sent('using (run, seq)')).toBeGreaterThanOrEqual(15)
  expect(sent('using (run, seq)')).toBeLessThanOrEqual(16)
})

test('long messages are read in parts, for any number of runs', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `long mail ${n}`)
  const created = await port.runs.create(ids.map((id) => newRun(id)))
  const payload = new Uint8Array(1_000_000)
  await port.mail.send(
    ids.map((run) => ({ run, kind: 'signal', name: 'paid', key: null, by: null, payload })),
    null,
  )
  const before = pool.statements.length
  const mail = await Promise.all(created.map(({ run }) => port.mail.list(run, 0)))
  expect(mail.map(([message]) => message?.payload?.length)).toEqual(ids.map(() => payload.length))
  const parts = pool.statements.slice(before).filter(({ text }) => text.includes('using (run, n)'))
  // Four payloads of 1 MB in one.
  expect(parts).toHaveLength(3)
})

test('a short log does not wait for the long payloads of other logs', async () => {
  const held = new InterposedPool(database.url)
  const own = await open(postgres({ pool: held }))
  onTestFinished(async () => {
    await own.close()
    await held.end()
  })
  const long = newEvent('started', { payload: new Uint8Array(1_000) })
  const [slow, quick] = await own.runs.create([newRun('slow', { started: long }), newRun('quick')])
  let letGo: () => void = () => {}
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve
  })
  held.onQuery = async (text, go) => {
    if (text.includes('using (run, seq)')) await isLetGo
    return go()
  }
  const slowLog = own.log.load(slow?.run ?? 0, 0, 1)
  expect(await own.log.load(quick?.run ?? 0, 0, 1)).toHaveLength(1)
  letGo()
  expect((await slowLog)[0]?.payload?.length).toBe(1_000)
})

test('an invalid id affects no other lookup', async () => {
  await port.runs.create([newRun('good')])
  const outcomes = await Promise.allSettled(['good', 'b\0d', 'nowhere'].map((id) => port.runs.find(id)))
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { id: 'good' } },
    { status: 'rejected' },
    { status: 'fulfilled', value: null },
  ])
})

test('a column added by a later version breaks no lookup of workers', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [asking] = await createOwned(port, worker, ['asking'])
  if (!asking) throw new Error('not created')
  await port.log.commit(worker, [newUnit(asking, { opens: [newAsk(0, { key: 'key' })] })])
  const { run } = asking
  const lookUp = async () => [
    await port.runs.find('asking'),
    await port.asks.find('asking', 0),
    await port.asks.findByKey('asking', 'key'),
    await port.log.load(run, 0, 9),
    await port.mail.list(run, 0),
  ]
  // Warm must be the statements under the names they go by from now on, which change with the number of runs that a
  // lookup learns of; and on the connection that is used next, which is the one that was used last.
  await lookUp()
  const before = await lookUp()
  const names = () => ['position', 'key'].map((column) => pool.last(`${column} = wanted.name`).name)
  const warm = names()
  const tables = ['asks', 'runs', 'run_info', 'events', 'messages', 'workers']
  await database.owner.query(
    tables.map((table) => `alter table pawl.${table} add column later text`).join(';'),
  )
  expect(await lookUp()).toEqual(before)
  expect(names()).toEqual(warm)
  expect(warm).not.toContain(undefined)
})
