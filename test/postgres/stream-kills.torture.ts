import { test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { followThroughKills } from '../support/http/follow-through-kills.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

test(`a reader sees each number once and in order over 50 kills of the server, on PostgreSQL, seed ${seed}`, async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  await followThroughKills(database.url, 50, seed)
  await database.remove()
  await server.remove()
})
