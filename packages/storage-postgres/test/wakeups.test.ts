import type { Store } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MutantPool, withoutMailCheck } from '../../../test/support/mutant-pool.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { sendWhileParking } from './support/wakeups.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await makeDatabase()
})
afterEach(() => database.remove())

test('a message to a run that is being parked wakes it, without hints and without sweeps', async () => {
  const store = () => postgres(database.url, { notifications: false })
  const report = await meet(store)
  expect(report.stranded).toBe(0)
  expect(report.refusedParks).toBeGreaterThan(0)
})

test('control: a store that parked a run with new mail would leave some waiting', async () => {
  const pool = new MutantPool(database.url, withoutMailCheck, 30)
  const store = () => postgres({ pool }, { notifications: false })
  expect((await meet(store)).stranded).toBeGreaterThan(0)
  await pool.end()
})

/** A thousand messages, and as many again until one has met a park: whether one does is chance. */
async function meet(store: () => Store): Promise<{ refusedParks: number; stranded: number }> {
  for (let round = 1; ; round++) {
    const report = await sendWhileParking({ database, store, messages: 1_000, runs: 20 })
    if (report.refusedParks + report.stranded > 0 || round === 20) return report
  }
}
