import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, describe } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { describeCancelTable } from '../support/cancel-table.ts'
import { makeDatabase } from '../support/postgres-database.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

describe('a cancel, in PostgreSQL', () => {
  describeCancelTable(async () => {
    const database = await makeDatabase({ server: server.url() })
    return { store: postgres(database.url), remove: () => database.remove() }
  }, 1_000)
})
