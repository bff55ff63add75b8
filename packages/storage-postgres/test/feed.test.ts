import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { newRun, open } from './support/units.ts'

const day = 24 * 60 * 60 * 1_000

let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.remove())

test('trimming deletes entries older than an instant, read or not, and never the newest', async () => {
  const port = await open(postgres(database.url))
  await port.runs.create([newRun('a')])
  const { run = 0 } = (await port.runs.find('a')) ?? {}
  const now = await port.now()
  const add = (count: number, at: number) =>
    database.owner.query(
      `insert into pawl.news (run, at, kind) select ${run}, ${at}, 2 from generate_series(1, ${count})`,
    )
  await add(20, now - 8 * day)
  await add(3, now - 6 * day)
  expect(await port.feed.read(0, 100)).toMatchObject({ oldest: 1, newest: 23 })
  await add(5, now - 8 * day)
  expect(await port.feed.trim(now - 7 * day, 12)).toBe(12)
  expect(await port.feed.trim(now - 7 * day, 12)).toBe(12)
  expect(await port.feed.trim(now - 7 * day, 12)).toBe(1)
  expect(await port.feed.read(0, 100)).toMatchObject({ oldest: 21, newest: 23 })
  await port.close()

  await database.owner.query(`update pawl.feed set at = ${now - 8 * day}`)
  const later = await open(postgres(database.url))
  expect(await later.feed.trim(now - 7 * day, 12)).toBe(2)
  expect(await later.feed.read(0, 100)).toMatchObject({ oldest: 23, newest: 23 })
  await add(1, now)
  expect(await later.feed.read(0, 100)).toMatchObject({ oldest: 23, newest: 24 })
  await later.close()
})
