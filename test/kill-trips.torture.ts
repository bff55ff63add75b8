import { expect, test } from 'vitest'
import { besiege } from './support/kill/siege.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'
import { killAtEveryWrite } from './support/kill/trip/kill-at-every-write.ts'
import { trips } from './support/kill/trip/story.ts'
import { seed } from './support/seed.ts'

const killsEach = 200
/** SHARE=0.1 is a tenth of them. */
const rounds = Math.ceil(25 * Number(process.env['SHARE'] ?? 1))

test(`${rounds * killsEach} workers are killed while runs are cancelled, raced and rolled back (SEED=${seed})`, async () => {
  for (let round = 0; round < rounds; round++) {
    const report = await besiege({
      seed: seed + round,
      story: trips,
      kills: killsEach,
      workers: 3,
      mercyMs: 600,
    })
    expect(report.problems, `SEED=${seed + round}`).toEqual([])
    console.log(`SEED=${seed} round ${round + 1} of ${rounds}`, { ...report, problems: 0, repeats: 0 })
  }
})

test.each([
  ['cancel', 'before'],
  ['cancel', 'after'],
  ['fail', 'before'],
  ['fail', 'after'],
] as const)('a run with the fate to %s survives a kill %s every transaction', async (fate, when) => {
  expect(await killAtEveryWrite(makeSqlitePlace, fate, when)).toBeGreaterThan(15)
})

test('the checker finds what happens to cancelled runs without the fence', async () => {
  const problems: string[] = []
  for (let round = 0; round < 10 && problems.length === 0; round++) {
    const report = await besiege({
      seed: seed + round,
      story: trips,
      kills: 20,
      pauses: 60,
      workers: 3,
      env: { FENCE: 'off' },
    })
    problems.push(...report.problems)
  }
  expect(problems).not.toEqual([])
})
