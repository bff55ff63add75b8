import { postgres } from '@pawl/storage-postgres'
import { storeConformance } from '@pawl/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeDatabase, readGuide, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { explain } from './support/explain.ts'
import { makeSubject } from './support/place.ts'
import { createOwned, open } from './support/units.ts'

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

/** What docs/guides/postgres.md says to do before the first run. */
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

test('a statement about one run reads one partition', async () => {
  const recording = new RecordingPool(database.url)
  const port = await open(postgres({ pool: recording }, { schema, prepared: false, notifications: false }))
  onTestFinished(async () => {
    await port.close()
    await recording.end()
  })
  const worker = await port.register({ name: 'w', leaseMs: 60_000 })
  const [a] = await createOwned(port, worker, ['a', 'b', 'c', 'd'])
  if (!a) throw new Error('not created')
  await port.load(a.run, 0, 10)
  await port.mail(a.run, 0)
  const [log, mail] = [recording.last('seq >='), recording.last('not used')]
  expect((await explain(database.owner, log)).tables).toEqual(
    new Set([expect.stringMatching(/^events_\d+$/)]),
  )
  expect((await explain(database.owner, mail)).tables).toEqual(
    new Set([expect.stringMatching(/^messages_\d+$/)]),
  )
})
