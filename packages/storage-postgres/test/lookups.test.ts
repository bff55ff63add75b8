import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { newRun, open } from './support/units.ts'

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

test('runs that many ask for at once are looked up in one statement, and each gets its own', async () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => `run "${n}"`)
  await port.create(ids.map((id) => newRun(id)))
  const before = pool.statements.length
  const asked = [...ids.slice(1), 'nowhere', ...ids.slice(990)]
  const rows = await Promise.all(asked.map((id) => port.find(id)))
  expect(rows.map((row) => row?.id)).toEqual([...ids.slice(1), undefined, ...ids.slice(990)])
  const lookups = pool.statements.slice(before).filter(({ text }) => text.includes('any($1'))
  // One is full with a thousand.
  expect(lookups).toHaveLength(2)
})

test('what cannot be an id is nobody else’s fault', async () => {
  await port.create([newRun('good')])
  const outcomes = await Promise.allSettled(['good', 'b\0d', 'nowhere'].map((id) => port.find(id)))
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { id: 'good' } },
    { status: 'rejected' },
    { status: 'fulfilled', value: null },
  ])
})
