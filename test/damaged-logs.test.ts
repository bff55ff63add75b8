import { expect, test } from 'vitest'
import { makeDamagedPlace } from './support/damage/make-place.ts'
import { sample } from './support/damage/sample.ts'
import { damageLogs } from './support/damage/scene.ts'

test('whatever becomes of an event, its run is quarantined or unchanged, and all others finish', async () => {
  const { damaged, problems } = await damageLogs(await makeDamagedPlace(), sample)
  expect(problems).toEqual([])
  expect(damaged).toBeGreaterThan(100)
})
