import { describe } from 'vitest'
import { describeImportedFamilies } from '../support/imported-family-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

describe('imported families, in PostgreSQL', () => {
  describeImportedFamilies(makePlaces())
})
