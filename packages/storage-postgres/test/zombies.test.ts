import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { letZombiesWork } from './support/zombies.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await makeDatabase()
})
afterEach(() => database.remove())

test('workers that are stopped past their lease and resume write nothing', async () => {
  const report = await letZombiesWork({ database, isGuarded: true, stops: 9 })
  expect(report).toMatchObject({ stale: 0, lost: 0, resubmitted: 0, gaps: 0 })
  expect(report.events).toBeGreaterThan(100)
  expect(report.claims).toBeGreaterThan(120)
})

test('control: stopped workers would write without the check of epoch and worker', async () => {
  const report = await letZombiesWork({ database, isGuarded: false, stops: 60, untilStale: true })
  expect(report.stale).toBeGreaterThan(0)
})
