import { describe } from 'vitest'
import { describeForkTable } from '../support/fork-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('a fork asked for again, in PostgreSQL', () => {
  describeForkTable(makePlaces())
})
