import { expect, test } from 'vitest'
import { besiege } from './support/kill/siege.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'
import { killAtEveryWrite } from './support/kill/trip/kill-at-every-write.ts'
import { trips } from './support/kill/trip/story.ts'
import { seed } from './support/seed.ts'

test(`workers are killed at random while runs are cancelled, raced and rolled back, and each undo is recorded once (SEED=${seed})`, async () => {
  const report = await besiege({ seed, story: trips, kills: 10, workers: 2 })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(10)
  expect(report.runs).toBeGreaterThan(2)
})

// All of them in the long form.
test('a worker killed after some of its transactions leaves a cancelled run that the next one rolls back', async () => {
  expect(await killAtEveryWrite(makeSqlitePlace, 'cancel', 'after', 5)).toBeGreaterThan(2)
})
