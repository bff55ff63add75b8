import { postgres } from '@pawl/storage-postgres'
import { storeConformance } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { makeSubject } from './support/place.ts'

// What differs from the defaults at once: another schema, tables partitioned by run, and no named statements.
const schema = 'Other_1'
const partitions = 8

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
  for (const table of ['events', 'messages', 'asks']) {
    const name = `"${schema}".${table}`
    await owner.query(
      `create table "${schema}".${table}_new (like ${name} including all) partition by hash (run)`,
    )
    await owner.query(`drop table ${name}`)
    await owner.query(`alter table "${schema}".${table}_new rename to ${table}`)
    for (let remainder = 0; remainder < partitions; remainder++) {
      await owner.query(
        `create table "${schema}".${table}_${remainder} partition of ${name} for values with (modulus ${partitions}, remainder ${remainder})`,
      )
    }
  }
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
  expect(plan.match(/Scan using events_\d+_/g)).toHaveLength(1)
})
