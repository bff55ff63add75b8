import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { makeDatabase } from '../support/postgres-database.ts'
import { describeTalk } from '../support/talk-table.ts'

describe('talk with a run, in PostgreSQL', () => {
  describeTalk(async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  })
})
