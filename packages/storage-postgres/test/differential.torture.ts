import { postgres } from '@pawl/storage-postgres'
import { storeDifferential } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { makeSubject } from './support/place.ts'

let server: PostgresServer
let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  server = await PostgresServer.start()
  database = await makeDatabase({ server: server.url() })
  pool = new pg.Pool({ connectionString: database.url, max: 30 })
})
afterAll(async () => {
  await pool.end()
  await database.remove()
  await server.remove()
})

storeDifferential(
  makeSubject(
    'postgres',
    () => database,
    () => postgres({ pool }),
  ),
  { streams: 10_000, length: 60, atLeast: 100, timeoutMs: 4 * 3_600_000 },
)
