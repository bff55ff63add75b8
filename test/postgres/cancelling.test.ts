import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { describeCancelTable } from '../support/cancel-table.ts'
import { makeDatabase } from '../support/postgres-database.ts'

describe('a cancel, in PostgreSQL', () => {
  describeCancelTable(async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  })
})
