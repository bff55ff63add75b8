import { Database } from './connection/database.ts'
import { nameTables } from './names.ts'
import { isCurrent, readVersion } from './schema/version.ts'

/**
 * Returns whether opening the store would leave the database as it is, since its schema is up to date.
 * @throws PawlError 'store-unusable'
 */
export async function isSettled(connection: string, schema = 'pawl'): Promise<boolean> {
  const database = new Database(connection, nameTables(schema), false)
  try {
    return isCurrent(await readVersion(database), database.names)
  } finally {
    await database.close()
  }
}
