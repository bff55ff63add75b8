import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import { besiege } from '../support/kill/siege.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`the server crashes while engines work, and nothing is lost or repeated (SEED=${seed})`, {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(process.env['TEST_POSTGRES_URL'] !== undefined, 'TEST_POSTGRES_URL: not a server to be stopped')
  const server = await PostgresServer.start()
  onTestFinished(() => server.remove())
  const place = await makePostgresPlace(server.url())
  const report = await besiege({
    ...{ seed, place, workers: 2, runs: 50 },
    disasters: {
      count: 4,
      async strike(random) {
        await wait(300 + random() * 700)
        await server.stop('immediate')
        await wait(random() * 300)
        await server.start()
      },
    },
  })
  console.log({ ...report, repeats: report.repeats.length })
  expect(report.problems).toEqual([])
  expect(report.disasters).toBe(4)
})
