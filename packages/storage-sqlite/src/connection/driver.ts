import { unusable } from '../unusable.ts'
import { loadBetterSqlite } from './better-sqlite.ts'
import type { Database } from './database.ts'
import { loadNodeSqlite } from './node-sqlite.ts'
import { isTrustedVersion } from './sqlite-version.ts'

/** Name of a library that reads and writes the file. */
export type SqliteDriver = 'better-sqlite3' | 'node'

interface Driver {
  readonly load: () => ((file: string) => Database) | Promise<(file: string) => Database>
  /** What to do if its SQLite is too old. */
  readonly update: string
}

const drivers: Readonly<Record<SqliteDriver, Driver>> = {
  'better-sqlite3': {
    load: loadBetterSqlite,
    update: 'Install a better-sqlite3 with SQLite 3.51.3 or later, such as version 12.11.1.',
  },
  node: {
    load: () => loadNodeSqlite(),
    update: 'Use Node 22.23, 24.21 or later, or omit `driver` to use better-sqlite3.',
  },
}

export const driverNames = Object.keys(drivers) as readonly SqliteDriver[]

/**
 * Loads the driver and opens the file. Does not wait for locks of other connections.
 * @throws PawlError 'store-unusable' if the driver cannot be loaded, or if its SQLite release is not safe
 */
export async function connectDriver(file: string, driver: SqliteDriver): Promise<Database> {
  const { load, update } = drivers[driver]
  const connect = await load()
  const database = connect(file)
  const version = database.prepare<[], string>('select sqlite_version()').pluck().get() ?? ''
  if (isTrustedVersion(version)) return database
  database.close()
  throw unusable(`SQLite ${version} can corrupt a file that several processes write to.`, update)
}
