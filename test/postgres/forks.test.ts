import { describe } from 'vitest'
import { describeForkEdits } from '../support/fork-edit-table.ts'
import { describeForkTable } from '../support/fork-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('a fork asked for again, in PostgreSQL', () => {
  describeForkTable(makePlaces())
})

describe('edited answers of a fork, in PostgreSQL', () => {
  describeForkEdits(makePlaces())
})
