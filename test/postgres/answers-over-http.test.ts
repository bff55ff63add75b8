import { postgres } from '@pawl/storage-postgres'
import { test } from 'vitest'
import { expectOneWinner } from '../support/http/races.ts'
import { makeDatabase } from '../support/postgres-database.ts'

test('of two answers at once over HTTP one gets 200 and the other 409 with the winner, on PostgreSQL', async () => {
  const database = await makeDatabase()
  await expectOneWinner([postgres(database.url), postgres(database.url)], 20)
  await database.remove()
})
