import { postgres } from '@pawl/storage-postgres'
import { storeConformance } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDatabase, readGuide, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { makeSubject } from './support/place.ts'

// What differs from the defaults at once: another schema, tables partitioned by run, and no named statements.
const schema = 'Other_1'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await makeDatabase({ schema, prepare: partition })
  pool = new pg.Pool({ connectionString: database.url, max: 30 })
})
afterAll(async () => {
  await pool.end()
  await database.remove()
})

/** What docs/postgres.md says to do before the first run. */
async function partition(owner: pg.Pool): Promise<void> {
  await owner.query(readGuide('do $$').replaceAll('"pawl"', `"${schema}"`))
}

storeConformance(
  makeSubject(
    'postgres, partitioned',
    () => database,
    () => postgres({ pool }, { schema, prepared: false }),
    `"${schema}"`,
  ),
)

test('a statement about one run looks into one partition', async () => {
  const { rows } = await database.owner.query(
    `explain select * from "${schema}".events where run = 1 and seq >= 0 order by seq limit 10`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(new Set(plan.match(/\bevents_\d+/g)).size, plan).toBe(1)
})
