import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePostgresPlace, type PostgresPlace } from '../../../test/support/kill/postgres-place.ts'
import { besiege } from '../../../test/support/kill/siege.ts'
import { seed } from '../../../test/support/seed.ts'
import { loseTheLastMoments } from './support/lagging-standby.ts'
import { ServerPair } from './support/server-pair.ts'

/** Half of them with a standby that was waited for, half with one that was not. */
const failovers = Number(process.env['FAILOVERS'] ?? 50)
const each = Math.ceil(failovers / 2)

let pair: ServerPair
let place: PostgresPlace
beforeEach(async () => {
  pair = await ServerPair.start()
  place = await makePostgresPlace(pair.url)
})
afterEach(async () => {
  await place.database.owner.end()
  await pair.remove()
})

test(`${each} takeovers by a standby that confirms commits lose nothing (SEED=${seed})`, async () => {
  const report = await besiege({
    seed,
    workers: 3,
    // The place is taken away with its servers.
    place: { ...place, remove: async () => {} },
    disasters: {
      count: each,
      async strike(random) {
        await pair.addStandby()
        await pair.makeSynchronous()
        await wait(300 + random() * 700)
        await pair.primary.stop('immediate')
        pair.promote()
        await pair.switchOver()
      },
    },
  })
  console.log(`SEED=${seed}`, report)
  expect(report.problems).toEqual([])
  expect(report.disasters).toBe(each)
})

test(`${each} takeovers by a standby that was behind are noticed`, async () => {
  const sum = { robbed: 0, whole: 0 }
  for (let round = 0; round < each; round++) {
    await pair.addStandby()
    const behindMs = Math.random() * 60
    const { robbed, whole, problems } = await loseTheLastMoments(pair, place.database, { round, behindMs })
    expect(problems).toEqual([])
    sum.robbed += robbed
    sum.whole += whole
    console.log(`round ${round + 1} of ${each}`, { behindMs, robbed, whole })
  }
  expect(sum).toEqual({
    robbed: expect.toSatisfy((count: number) => count > 0),
    whole: expect.toSatisfy((count: number) => count > 0),
  })
})
