import { expect, test } from 'vitest'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import { besiege } from '../support/kill/siege.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`workers on PostgreSQL are killed at random moments and nothing is lost or repeated (SEED=${seed})`, {
  timeout: 120_000,
}, async () => {
  const place = await makePostgresPlace()
  const report = await besiege({ seed, kills: 30, workers: 3, place })
  console.log(`SEED=${seed}`, { ...report, problems: report.problems.length, repeats: report.repeats.length })
  expect(report.problems).toEqual([])
  expect(report.runs).toBeGreaterThan(20)
})
