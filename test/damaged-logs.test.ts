import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './support/bundle.ts'
import { sample } from './support/damage/sample.ts'
import { damageLogs } from './support/damage/scene.ts'
import { SqlitePlace } from './support/damage/sqlite-place.ts'

test('whatever becomes of an event in SQLite, its run is quarantined or unchanged, and all others finish', async () => {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const { damaged, problems } = await damageLogs(new SqlitePlace(join(folder, 'pawl.db')), sample)
  expect(problems).toEqual([])
  expect(damaged).toBeGreaterThan(100)
})
