import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

// Databases keep the numbers that they were migrated with, so the first six stay as they came about.
const asTheyCameAbout = 6

function listMigrations(store: string): readonly string[] {
  return readdirSync(new URL(`../packages/${store}/src/schema/migrations`, import.meta.url)).sort()
}

test('both SQL stores have the same migrations from number 7 on', () => {
  const [inSqlite, inPostgres] = ['storage-sqlite', 'storage-postgres'].map(listMigrations)
  expect(inSqlite?.length).toBeGreaterThanOrEqual(asTheyCameAbout)
  expect(inSqlite?.length).toBe(inPostgres?.length)
  expect(inSqlite?.slice(asTheyCameAbout)).toEqual(inPostgres?.slice(asTheyCameAbout))
})

test.each(['storage-sqlite', 'storage-postgres'])(
  'the migrations of %s are numbered without gaps',
  (store) => {
    for (const [index, file] of listMigrations(store).entries())
      expect(file).toMatch(new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z-]+\\.ts$`))
  },
)
