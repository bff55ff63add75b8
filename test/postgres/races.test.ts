import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { makeDatabase } from '../support/postgres-database.ts'
import { describeRaceTable } from '../support/race-table.ts'

describe('a race, in PostgreSQL', () => {
  describeRaceTable(async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  })
})
