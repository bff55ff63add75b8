import { test } from 'vitest'
import { followThroughKills } from '../support/http/follow-through-kills.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

test(`a reader sees each number once and in order over 10 kills of the server, on PostgreSQL, seed ${seed}`, async () => {
  const database = await makeDatabase()
  await followThroughKills(database.url, 10, seed)
  await database.remove()
})
