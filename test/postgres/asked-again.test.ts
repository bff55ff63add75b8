import { describe } from 'vitest'
import { describeAskedAgainTable } from '../support/asked-again-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('a question that is asked again, in PostgreSQL', () => {
  describeAskedAgainTable(makePlaces())
})
