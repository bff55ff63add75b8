import { describe } from 'vitest'
import { makePlaces } from '../support/postgres-database.ts'
import { describeRollbackTable } from '../support/rollback-table.ts'

describe('a rollback, in PostgreSQL', () => {
  describeRollbackTable(makePlaces())
})
