import { randomUUID } from 'node:crypto'
import type { Database } from '../connection/database.ts'
import { readIdentity } from '../connection/file-identity.ts'

/**
 * Turns a copy of a store, such as a restored backup, into a separate store. The copy gets a new id, its workers are
 * removed, and every owned run is handed back with a higher epoch.
 */
export function adoptCopy(database: Database, file: string): void {
  const identity = identityOfCopy(database, file)
  if (identity === undefined) return
  database.exec('begin immediate')
  try {
    if (readInfo(database, 'file') !== undefined) {
      writeInfo(database, 'id', randomUUID())
      database
        .prepare('update runs set worker = null, epoch = epoch + 1, wake_at = ? where worker is not null')
        .run(Date.now())
      database.exec('delete from workers')
    }
    writeInfo(database, 'file', identity)
    database.exec('commit')
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    throw error
  }
}

/** Returns the identity of the file if it is a copy that is not adopted yet, or else undefined. */
export function identityOfCopy(database: Database, file: string): string | undefined {
  const identity = readIdentity(file)
  return readInfo(database, 'file') === identity ? undefined : identity
}

function readInfo(database: Database, name: string): string | undefined {
  return database.prepare<[string], string>('select value from store_info where name = ?').pluck().get(name)
}

function writeInfo(database: Database, name: string, value: string): void {
  database
    .prepare('insert into store_info values (?, ?) on conflict (name) do update set value = excluded.value')
    .run(name, value)
}
