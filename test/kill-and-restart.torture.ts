import { expect, test } from 'vitest'
import { besiege } from './support/kill/siege.ts'
import { seed } from './support/seed.ts'

const killsEach = 200
/** SHARE=0.1 is a tenth of them. */
const rounds = Math.ceil(50 * Number(process.env['SHARE'] ?? 1))
/** Longer than for the 200 of `npm test`: in ten thousand, some run would be killed over seven times in a row. */
const mercyMs = 600

test(`${rounds * killsEach} workers are killed at random moments and nothing is lost or repeated (SEED=${seed})`, async () => {
  let [kills, runs, events] = [0, 0, 0]
  for (let round = 0; round < rounds; round++) {
    const report = await besiege({ seed: seed + round, kills: killsEach, workers: 3, mercyMs })
    expect(report.problems, `SEED=${seed + round}`).toEqual([])
    kills += report.kills
    runs += report.runs
    events += report.events
    console.log(`SEED=${seed} round ${round + 1} of ${rounds}`, { kills, runs, events })
  }
  expect(kills).toBe(rounds * killsEach)
})

test(`workers stopped past their lease write nothing when they continue (SEED=${seed})`, async () => {
  const report = await besiege({ seed, kills: 50, pauses: 50, workers: 3 })
  expect(report.problems).toEqual([])
})

test('control: the checker finds the writes of a stale worker without the fence', async () => {
  const problems: string[] = []
  for (let round = 0; round < 10 && problems.length === 0; round++) {
    const report = await besiege({
      seed: seed + round,
      kills: 20,
      pauses: 60,
      workers: 3,
      env: { FENCE: 'off' },
    })
    problems.push(...report.problems)
  }
  expect(problems).not.toEqual([])
})
