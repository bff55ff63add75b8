import { connectShared, type SqliteDriver } from './connection/driver.ts'
import { identityOfCopy } from './schema/copies.ts'
import { newestVersion, readVersion } from './schema/version.ts'

/**
 * Returns whether opening the store would leave an existing file as it is: its schema is up to date, and it is no copy that becomes a
 * store of its own.
 * @throws PawlError 'store-unusable'
 */
export async function isSettled(file: string, driver: SqliteDriver = 'better-sqlite3'): Promise<boolean> {
  const database = await connectShared(file, driver)
  try {
    return readVersion(database, file) === newestVersion && identityOfCopy(database, file) === undefined
  } finally {
    database.close()
  }
}
