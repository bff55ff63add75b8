import { describe } from 'vitest'
import { describeCancelTable } from '../support/cancel-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('a cancel, in PostgreSQL', () => {
  describeCancelTable(makePlaces())
})
