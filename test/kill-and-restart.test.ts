import { expect, test } from 'vitest'
import { besiege } from './support/kill/siege.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`25 workers are killed at random moments and nothing is lost or repeated (SEED=${seed})`, async () => {
  const report = await besiege({ seed, kills: 25, workers: 2 })
  console.log(`SEED=${seed}`, { ...report, problems: report.problems.length, repeats: report.repeats.length })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(25)
  expect(report.runs).toBeGreaterThan(2)
})
