import { postgres } from '@pawl/storage-postgres'
import { test } from 'vitest'
import { killFamilies } from '../support/family.ts'
import { makeDatabase } from '../support/postgres-database.ts'

test('parents and children in different processes that are killed lose and repeat no child, in PostgreSQL', async () => {
  const database = await makeDatabase()
  await killFamilies({ store: postgres(database.url), place: database.url, parents: 20, kills: 8 })
  await database.remove()
}, 120_000)
