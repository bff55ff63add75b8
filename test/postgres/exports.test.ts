import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '@pawl/storage-postgres'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { test } from 'vitest'
import type { CancelPlace } from '../support/cancel-table.ts'
import { checkExports } from '../support/export-table.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

const inMemory = (): CancelPlace => ({ store: memory(), remove: async () => {} })

async function inSqlite(): Promise<CancelPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-exports-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  return { store: sqlite(join(folder, 'pawl.db')), remove }
}

async function inPostgres(): Promise<CancelPlace> {
  const database = await makeDatabase()
  return { store: postgres(database.url), remove: () => database.remove() }
}

test(`runs of PostgreSQL are the same in every store they are imported into (seed ${seed})`, async () => {
  await checkExports(await inPostgres(), [inMemory(), await inSqlite(), await inPostgres()], 8)
})

test(`runs of memory are the same in PostgreSQL (seed ${seed})`, async () => {
  await checkExports(inMemory(), [await inPostgres()], 8)
})

test(`runs of SQLite are the same in PostgreSQL (seed ${seed})`, async () => {
  await checkExports(await inSqlite(), [await inPostgres()], 8)
})
