import { describe } from 'vitest'
import { describeHeldMail } from '../support/hold-table.ts'
import { makePlaces } from '../support/postgres-database.ts'
import { describeTalk } from '../support/talk-table.ts'

describe('talk with a run, in PostgreSQL', () => describeTalk(makePlaces()))
describe('a run that holds clients back, in PostgreSQL', () => describeHeldMail(makePlaces()))
