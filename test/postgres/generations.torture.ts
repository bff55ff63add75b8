import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { playRounds } from '../support/rounds.ts'

/** 10,000 generations of three signals, an answer and a child each, unless ROUNDS says otherwise. */
const rounds = Number(process.env['ROUNDS'] ?? 10_000)

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

test('nothing is lost in 10,000 generations, on PostgreSQL', async () => {
  const database = await makeDatabase({ server: server.url() })
  await playRounds(postgres(database.url), 3 * rounds, false)
  await database.remove()
})
