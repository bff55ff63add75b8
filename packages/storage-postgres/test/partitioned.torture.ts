import { postgres } from '@pawl/storage-postgres'
import { storeConformance } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { TestDatabase } from '../../../test/support/postgres-database.ts'
import { makePartitioned, partitioned } from './support/partitioned.ts'
import { makeSubject } from './support/place.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await makePartitioned()
  pool = new pg.Pool({ connectionString: database.url, max: 30 })
})
afterAll(async () => {
  await pool.end()
  await database.remove()
})

storeConformance(
  makeSubject(
    'postgres, partitioned',
    () => database,
    () => postgres({ pool }, partitioned),
    `"${partitioned.schema}"`,
  ),
)
