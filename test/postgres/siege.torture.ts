import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import type { SiegeReport } from '../support/kill/siege.ts'
import { killAtEveryWrite } from '../support/kill/trip/kill-at-every-write.ts'
import { trips } from '../support/kill/trip/story.ts'
import { seed } from '../support/seed.ts'
import { besiegePostgres, breakConnections, crashServer } from './sieges.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

/** So many rounds, each with another seed; every one must leave everything as it was promised. */
async function repeat(rounds: number, siege: (seed: number) => Promise<SiegeReport>): Promise<void> {
  const sum = { kills: 0, pauses: 0, disasters: 0, runs: 0, events: 0, changes: 0 }
  for (let round = 0; round < rounds; round++) {
    const report = await siege(seed + round)
    expect(report.problems, `SEED=${seed + round}`).toEqual([])
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += report[name]
    console.log(`SEED=${seed} round ${round + 1} of ${rounds}`, sum)
  }
}

const rounds = (total: number, each: number): number =>
  Math.ceil((total * Number(process.env['SHARE'] ?? 1)) / each)

test(`10,000 workers are killed at random moments (SEED=${seed})`, () =>
  repeat(rounds(10_000, 200), (seed) =>
    besiegePostgres({
      seed,
      server: server.url(),
      kills: 200,
      workers: 3,
      // Every other time the dead are known by their leases alone.
      env: seed % 2 === 0 ? {} : { NEIGHBOURS: 'off' },
    }),
  ))

test(`5,000 workers are killed while runs are cancelled, raced and rolled back (SEED=${seed})`, () =>
  repeat(rounds(5_000, 200), (seed) =>
    besiegePostgres({ seed, story: trips, server: server.url(), kills: 200, workers: 3 }),
  ))

test.each([
  ['cancel', 'before'],
  ['cancel', 'sent'],
  ['cancel', 'after'],
  ['fail', 'before'],
  ['fail', 'sent'],
  ['fail', 'after'],
] as const)('a run with the fate to %s survives a kill when any write is %s', async (fate, when) => {
  expect(await killAtEveryWrite(() => makePostgresPlace(server.url()), fate, when)).toBeGreaterThan(15)
})

test(`1,000 workers are stopped past their lease and continue (SEED=${seed})`, () =>
  repeat(rounds(1_000, 50), (seed) =>
    besiegePostgres({
      seed,
      server: server.url(),
      pauses: 50,
      workers: 3,
      atOnce: 30,
      env: { STEP_MS: '200' },
    }),
  ))

test(`the server crashes 1,000 times (SEED=${seed})`, () =>
  repeat(rounds(1_000, 50), (seed) => crashServer(server, { seed, workers: 3, crashes: 50 })))

test(`10,000 statements meet a broken connection (SEED=${seed})`, () =>
  repeat(rounds(10_000, 1_000), (seed) =>
    breakConnections({ seed, server: server.url(), workers: 3, cuts: 30, atOnce: 30 }),
  ))
