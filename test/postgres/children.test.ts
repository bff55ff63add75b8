import { describe } from 'vitest'
import { describeChildrenTable } from '../support/children-table.ts'
import { describeFamilies } from '../support/family-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('child runs, in PostgreSQL', () => {
  const makePlace = makePlaces()
  describeChildrenTable(makePlace)
  describeFamilies(makePlace)
})
