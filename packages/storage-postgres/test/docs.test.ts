import { afterAll, beforeAll } from 'vitest'
import { readPages } from '../../../test/docs/support/pages.ts'
import { runPages } from '../../../test/docs/support/run-pages.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'

// The programs on the pages take their database from the environment, as those of users do.
let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
  process.env['DATABASE_URL'] = database.url
})
afterAll(() => database.remove())

runPages(readPages().filter(({ text }) => text.includes("'@pawl/storage-postgres'")))
