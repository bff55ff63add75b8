import type { Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import {
  type Database,
  type DatabaseSync,
  findNodeSqlite,
  NodeDatabase,
  type NodeSqlite,
  type SqliteDriver,
} from '@pawl/storage-sqlite/internal'
import BetterSqlite from 'better-sqlite3'

/** The driver under test. The vitest project `sqlite-node` and its child processes set the variable. */
export const driver: SqliteDriver =
  process.env['PAWL_TEST_STORE'] === 'sqlite-node' ? 'node' : 'better-sqlite3'

/** A store on the driver under test. */
export const sqliteStore = (file: string): Store => sqlite(file, { driver })

/** Where the methods of all connections of the driver under test are, for programs that change them. */
export const rawConnections: Database = driver === 'node' ? NodeDatabase.prototype : BetterSqlite.prototype

/**
 * A raw connection to a file. It uses the driver under test, because two copies of SQLite in one process release each
 * other's locks on a file.
 */
export function connect(file: string, { readonly = false } = {}): Database {
  if (driver === 'better-sqlite3') return new BetterSqlite(file, { readonly })
  const node = findNodeSqlite()
  if (node === undefined) throw new Error('this Node has no node:sqlite')
  return new NodeDatabase(new node.DatabaseSync(file, { timeout: 5000, readOnly: readonly }))
}

/** Loads an extension of SQLite, which then applies to all connections of this process. */
export function loadExtension(extension: string): void {
  const node = driver === 'node' ? findNodeSqlite() : undefined
  const database = node
    ? new node.DatabaseSync(':memory:', { allowExtension: true })
    : new BetterSqlite(':memory:')
  database.loadExtension(extension)
}

/** An error as the driver throws it. */
export const sqliteError = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code })

/** Runs the work in one transaction. */
export function transact<Result>(database: Database, work: () => Result): Result {
  database.exec('begin')
  const result = work()
  database.exec('commit')
  return result
}

/** Copies a database that is in use, with the online backup of the driver. */
export async function backUp(file: string, copy: string): Promise<void> {
  if (driver === 'better-sqlite3') {
    const database = new BetterSqlite(file)
    await database.backup(copy)
    database.close()
    return
  }
  const node = findNodeSqlite() as NodeSqlite & NodeBackup
  const database = new node.DatabaseSync(file)
  await node.backup(database, copy)
  database.close()
}

interface NodeBackup {
  backup(database: DatabaseSync, copy: string): Promise<number>
}
