import { describe } from 'vitest'
import { describeContinueCancelTable } from '../support/continue-cancel-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('cancels around continueAs, in PostgreSQL', () => {
  describeContinueCancelTable(makePlaces())
})
