import { expect, onTestFinished, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import { killAtEveryWrite } from '../support/kill/trip/kill-at-every-write.ts'
import { trips } from '../support/kill/trip/story.ts'
import { seed } from '../support/seed.ts'
import { besiegePostgres, breakConnections, crashServer } from './sieges.ts'

test(`workers are killed at random moments, and nothing is lost or repeated (SEED=${seed})`, async () => {
  const report = await besiegePostgres({ seed, kills: 5, workers: 3 })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(5)
})

test(`workers are killed while runs are cancelled, raced and rolled back (SEED=${seed})`, async () => {
  const report = await besiegePostgres({ seed, story: trips, kills: 5, workers: 3 })
  expect(report.problems).toEqual([])
  expect(report.kills).toBe(5)
})

// All of them in the long form.
test('a worker killed in the middle of some of its writes leaves a cancelled run that the next one rolls back', async () => {
  expect(await killAtEveryWrite(() => makePostgresPlace(), 'cancel', 'sent', 9)).toBeGreaterThan(1)
})

test(`connections break in the middle of statements, and nothing is lost or repeated (SEED=${seed})`, async () => {
  const report = await breakConnections({ seed, workers: 2, cuts: 3, runs: 30 })
  expect(report.problems).toEqual([])
  expect(Math.min(...Object.values(report.broken))).toBeGreaterThan(0)
})

test(`the server crashes while engines work, and nothing is lost or repeated (SEED=${seed})`, async ({
  skip,
}) => {
  skip(process.env['TEST_POSTGRES_URL'] !== undefined, 'the server of TEST_POSTGRES_URL is not ours to stop')
  const server = await PostgresServer.start()
  onTestFinished(() => server.remove())
  const report = await crashServer(server, { seed, workers: 2, crashes: 3, runs: 30 })
  expect(report.problems).toEqual([])
  expect(report.disasters).toBe(3)
})
