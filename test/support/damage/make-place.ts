import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../bundle.ts'
import { makeDatabase } from '../postgres-database.ts'
import { isPostgres } from '../test-store.ts'
import type { DamagedPlace } from './place.ts'
import { PostgresPlace } from './postgres-place.ts'
import type { RowPlace } from './rows.ts'
import { SqlitePlace } from './sqlite-place.ts'

/** Makes a place in the SQL store under test, for one test. Default: SQLite. */
export async function makeDamagedPlace(): Promise<DamagedPlace & RowPlace> {
  if (isPostgres) {
    const database = await makeDatabase()
    onTestFinished(() => database.remove())
    return new PostgresPlace(database)
  }
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return new SqlitePlace(join(folder, 'pawl.db'))
}
