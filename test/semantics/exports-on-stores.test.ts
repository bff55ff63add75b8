import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { test } from 'vitest'
import type { CancelPlace } from '../support/cancel-table.ts'
import { checkExports } from '../support/export-table.ts'
import { seed } from '../support/seed.ts'

const inMemory = (): CancelPlace => ({ store: memory(), remove: async () => {} })

async function inSqlite(): Promise<CancelPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-exports-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  return { store: sqlite(join(folder, 'pawl.db')), remove }
}

test(`runs of memory are the same in every store they are imported into (seed ${seed})`, async () => {
  await checkExports(inMemory(), [inMemory(), await inSqlite()], 10)
})

test(`runs of SQLite are the same in every store they are imported into (seed ${seed})`, async () => {
  await checkExports(await inSqlite(), [inMemory(), await inSqlite()], 10)
})
