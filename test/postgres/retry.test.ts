import { describe } from 'vitest'
import { makePlaces } from '../support/postgres-database.ts'
import { describeRetryTable } from '../support/retry-table.ts'

describe('a retry of a failed run, in PostgreSQL', () => {
  describeRetryTable(makePlaces())
})
