import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { withoutTargetLocks, writeBothWays } from './support/two-way.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await makeDatabase()
})
afterEach(() => database.remove())

test('runs that write to each other from four connections do not deadlock', async () => {
  const report = await writeBothWays({ database, units: 2_000 })
  expect(report).toMatchObject({ deadlocks: 0, missing: 0, twice: 0, misfits: 0, heard: report.ends })
  expect(report.ends).toBeGreaterThan(100)
})

test('control: a store that did not lock the targets with the units would deadlock', async () => {
  const options = { database, units: 20_000, isControl: true, rewrite: withoutTargetLocks }
  expect((await writeBothWays(options)).deadlocks).toBeGreaterThan(0)
})
