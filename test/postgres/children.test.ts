import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { describeChildrenTable } from '../support/children-table.ts'
import { describeFamilies } from '../support/family-table.ts'
import { makeDatabase } from '../support/postgres-database.ts'

describe('child runs, in PostgreSQL', () => {
  const makePlace = async () => {
    const database = await makeDatabase()
    return { store: postgres(database.url), remove: () => database.remove() }
  }
  describeChildrenTable(makePlace)
  describeFamilies(makePlace)
})
