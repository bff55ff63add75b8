import { unusable } from '../unusable.ts'
import { findBetterSqlite, loadBetterSqlite } from './better-sqlite.ts'
import type { Database } from './database.ts'
import { loadNodeSqlite } from './node-sqlite.ts'
import { registerConnection } from './open-files.ts'
import { isTrustedVersion } from './sqlite-version.ts'

/** Name of a library that reads and writes the file. */
export type SqliteDriver = 'better-sqlite3' | 'node'

interface Driver {
  /** Identifies the copy of SQLite that it loads. */
  readonly find: () => string
  readonly load: () => ((file: string) => Database) | Promise<(file: string) => Database>
  /** What to do if its SQLite is too old. */
  readonly update: string
}

const drivers: Readonly<Record<SqliteDriver, Driver>> = {
  'better-sqlite3': {
    find: findBetterSqlite,
    load: loadBetterSqlite,
    update: 'Install a better-sqlite3 with SQLite 3.51.3 or later, such as version 12.11.1.',
  },
  node: {
    find: () => 'node:sqlite',
    load: () => loadNodeSqlite(),
    update: 'Use Node 22.23, 24.21 or later, or omit `driver` to use better-sqlite3.',
  },
}

export const driverNames = Object.keys(drivers) as readonly SqliteDriver[]

/**
 * Opens a file that no other connection uses, and creates it if it does not exist.
 * @throws PawlError 'store-unusable' if the driver cannot be loaded, or if its SQLite release is not safe
 */
export async function connectAlone(file: string, driver: SqliteDriver): Promise<Database> {
  return connectSafely(await drivers[driver].load(), file, driver)
}

/**
 * Opens an existing file. Does not wait for locks of other connections.
 * @throws PawlError 'store-unusable' also if another copy of SQLite has the file open in this process
 */
export async function connectShared(file: string, driver: SqliteDriver): Promise<Database> {
  const { find, load } = drivers[driver]
  const connect = await load()
  // Before the file is opened, because closing it again would release the locks of the other copy.
  const unregister = registerConnection(file, { id: find(), driver })
  try {
    return closeWith(connectSafely(connect, file, driver), unregister)
  } catch (error) {
    unregister()
    throw error
  }
}

function connectSafely(connect: (file: string) => Database, file: string, driver: SqliteDriver): Database {
  const database = connect(file)
  const version = database.prepare<[], string>('select sqlite_version()').pluck().get() ?? ''
  if (isTrustedVersion(version)) return database
  database.close()
  throw unusable(
    `SQLite ${version} can corrupt a file that several processes write to.`,
    drivers[driver].update,
  )
}

/** Calls the function when the connection is closed. */
function closeWith(database: Database, onClose: () => void): Database {
  const close = database.close.bind(database)
  database.close = () => {
    try {
      return close()
    } finally {
      onClose()
    }
  }
  return database
}
