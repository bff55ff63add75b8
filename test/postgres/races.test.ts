import { describe } from 'vitest'
import { makePlaces } from '../support/postgres-database.ts'
import { describeRaceTable } from '../support/race-table.ts'

describe('a race, in PostgreSQL', () => {
  describeRaceTable(makePlaces())
})
