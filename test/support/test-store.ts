import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { postgres } from '@pawl/storage-postgres'
import { memory } from '@pawl/testing'
import { temporaryFolder } from './bundle.ts'
import { makeDatabase, makePostgresPlaces } from './postgres-database.ts'
import { sqliteStore } from './sqlite.ts'
import type { StorePlace } from './store-place.ts'

/** Makes a new store for one test. */
export const newPlace = { memory: inMemory, sqlite: inSqlite, 'sqlite-node': inSqlite, postgres: inPostgres }

/** The store under test. Each vitest project names its own. Default: 'memory'. */
export const storeUnderTest = (process.env['PAWL_TEST_STORE'] ?? 'memory') as keyof typeof newPlace

export const isPostgres: boolean = storeUnderTest === 'postgres'

/** Returns a function that makes places in the store under test, one after the other, for the tests of one file. */
export function makePlaces(): () => Promise<StorePlace> {
  return isPostgres ? makePostgresPlaces() : newPlace[storeUnderTest]
}

async function inMemory(): Promise<StorePlace> {
  return { store: memory(), remove: async () => {} }
}

async function inSqlite(): Promise<StorePlace> {
  const folder = await temporaryFolder()
  const remove = () => rm(folder, { recursive: true, force: true })
  return { store: sqliteStore(join(folder, 'pawl.db')), remove }
}

async function inPostgres(): Promise<StorePlace> {
  const database = await makeDatabase()
  return { store: postgres(database.url), remove: () => database.remove() }
}
