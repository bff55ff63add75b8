import { expect, test } from 'vitest'
import { migrations as inPostgres } from '../packages/storage-postgres/src/schema/migrate.ts'
import { newestVersion as newestInPostgres } from '../packages/storage-postgres/src/schema/version.ts'
import { migrations as inSqlite } from '../packages/storage-sqlite/src/schema/migrate.ts'
import { newestVersion as newestInSqlite } from '../packages/storage-sqlite/src/schema/version.ts'

// Databases keep the numbers that they were migrated with, so the first six stay as they came about.
const asTheyCameAbout = 6

test('both SQL stores have the same migrations from number 7 on', () => {
  const later = [inSqlite, inPostgres].map((migrations) =>
    migrations.slice(asTheyCameAbout).map(({ version, name }) => ({ version, name })),
  )
  expect(later[0]).toEqual(later[1])
})

test.each([
  ['SQLite', inSqlite, newestInSqlite],
  ['PostgreSQL', inPostgres, newestInPostgres],
])('the migrations of %s are numbered without gaps up to the newest version', (_, migrations, newest) => {
  const numbers = migrations.map(({ version }) => version)
  expect(numbers).toEqual(Array.from({ length: newest }, (_, index) => index + 1))
  expect(newest).toBeGreaterThanOrEqual(asTheyCameAbout)
})
