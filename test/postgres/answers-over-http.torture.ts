import { postgres } from '@pawl/storage-postgres'
import { test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { expectOneWinner } from '../support/http/races.ts'
import { makeDatabase } from '../support/postgres-database.ts'

test('of two answers at once over HTTP one gets 200 and the other 409 with the winner, on PostgreSQL, 1,000 times', async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  await expectOneWinner([postgres(database.url), postgres(database.url)], 1000)
  await database.remove()
  await server.remove()
})
