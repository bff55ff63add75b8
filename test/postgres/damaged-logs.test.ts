import { expect, onTestFinished, test } from 'vitest'
import { PostgresPlace } from '../support/damage/postgres-place.ts'
import { sample } from '../support/damage/sample.ts'
import { damageLogs } from '../support/damage/scene.ts'
import { makeDatabase } from '../support/postgres-database.ts'

test('whatever becomes of an event in PostgreSQL, its run is quarantined or unchanged, and all others finish', async () => {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  const { damaged, problems } = await damageLogs(new PostgresPlace(database), sample)
  expect(problems).toEqual([])
  expect(damaged).toBeGreaterThan(100)
})
