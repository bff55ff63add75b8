import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { makeDatabase } from '../support/postgres-database.ts'
import { describeRollbackTable } from '../support/rollback-table.ts'

describe('a rollback, in PostgreSQL', () => {
  describeRollbackTable(async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  })
})
