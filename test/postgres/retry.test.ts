import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { makeDatabase } from '../support/postgres-database.ts'
import { describeRetryTable } from '../support/retry-table.ts'

describe('a retry of a failed run, in PostgreSQL', () => {
  describeRetryTable(async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  })
})
