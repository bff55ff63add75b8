import { postgres } from '@pawl/storage-postgres'
import { storeConformance, storeDifferential } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { makeSubject } from './support/place.ts'

let database: TestDatabase
// A pool of the application's, which outlives every store: most of the time of a test is connecting.
let pool: pg.Pool
beforeAll(async () => {
  database = await makeDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 30 })
})
afterAll(async () => {
  await pool.end()
  await database.remove()
})

const subject = makeSubject(
  'postgres',
  () => database,
  () => postgres({ pool }),
)
storeConformance(subject)
storeDifferential(subject, { streams: 10, length: 100, atLeast: 0 })
