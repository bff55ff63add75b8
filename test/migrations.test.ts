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

test.each(['storage-sqlite', 'storage-postgres'])(
  'the list of %s names its migrations in order',
  async (store) => {
    const at = (file: string): string =>
      new URL(`../packages/${store}/src/schema/${file}`, import.meta.url).href
    const { migrationNames } = await import(at('version.ts'))
    const { migrations } = await import(at('migrate.ts'))
    const files = listMigrations(store).map((file) => file.slice('0000-'.length, -'.ts'.length))
    expect(migrationNames).toEqual(files)
    expect(migrations.map(({ version, name }: { version: number; name: string }) => [version, name])).toEqual(
      files.map((file, index) => [index + 1, file]),
    )
  },
)
