import { describe } from 'vitest'
import { describeDeleteRaces } from '../support/delete-race-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('calls beside the deletion of their run, in PostgreSQL', () => {
  describeDeleteRaces(makePlaces(), 40)
})
