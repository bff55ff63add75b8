import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../scripts/postgres/server.ts'
import { temporaryFolder } from './support/bundle.ts'
import type { DamagedPlace } from './support/damage/place.ts'
import { PostgresPlace } from './support/damage/postgres-place.ts'
import { damageLogs } from './support/damage/scene.ts'
import { SqlitePlace } from './support/damage/sqlite-place.ts'
import { makeDatabase } from './support/postgres-database.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

/** Each with another part of all changes, so that an engine is not given all damaged runs at once. */
const rounds = 25

async function damageAll(
  makePlace: () => Promise<{ readonly place: DamagedPlace; remove(): Promise<void> }>,
) {
  const share = Math.ceil(rounds * Number(process.env['SHARE'] ?? 1))
  let sum = 0
  for (let round = 0; round < share; round++) {
    const { place, remove } = await makePlace()
    const { damaged, problems } = await damageLogs(place, (_of, _row, index) => index % rounds === round)
    await remove()
    expect(problems).toEqual([])
    sum += damaged
    console.log(`round ${round + 1} of ${share}: ${sum} damaged runs`)
  }
  expect(sum).toBeGreaterThan(300 * share)
}

test('every column of every event in SQLite is changed in every way', () =>
  damageAll(async () => {
    const folder = await temporaryFolder()
    return { place: new SqlitePlace(join(folder, 'pawl.db')), remove: () => rm(folder, { recursive: true }) }
  }))

test('every column of every event in PostgreSQL is changed in every way', () =>
  damageAll(async () => {
    const database = await makeDatabase({ server: server.url() })
    return { place: new PostgresPlace(database), remove: () => database.remove() }
  }))
