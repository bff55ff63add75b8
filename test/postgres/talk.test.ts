import { postgres } from '@pawl/storage-postgres'
import { describe } from 'vitest'
import { describeHeldMail } from '../support/hold-table.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { describeTalk } from '../support/talk-table.ts'

const makePlace = async () => {
  const database = await makeDatabase()
  return { store: postgres(database.url), remove: () => database.remove() }
}

describe('talk with a run, in PostgreSQL', () => describeTalk(makePlace))
describe('a run that holds clients back, in PostgreSQL', () => describeHeldMail(makePlace))
