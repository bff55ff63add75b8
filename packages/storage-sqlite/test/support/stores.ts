import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { type Environment, realEnvironment } from '../../src/connection/connection.ts'
import { SqliteStore } from '../../src/sqlite-store.ts'
import { makeDirectory, removeDirectory } from './subject.ts'

/** A file name in a new directory that is removed with everything in it when the test is over. */
export function tempFile(parent?: string): string {
  const directory = makeDirectory(parent)
  onTestFinished(() => removeDirectory(directory))
  return join(directory, 'pawl.db')
}

/** An open store on a file, closed when the test is over. */
export async function openStore(file: string, environment: Partial<Environment> = {}): Promise<SqliteStore> {
  const store = new SqliteStore(file, { ...realEnvironment, ...environment })
  onTestFinished(() => store.close())
  await store.open()
  return store
}

/** An environment whose connections go through `change` once they are open. */
export function changedConnections(
  change: (database: Database) => Database | undefined,
): Partial<Environment> {
  return {
    async connect(file) {
      const database = await realEnvironment.connect(file)
      return change(database) ?? database
    },
  }
}

/** The connection with other words in its statements: what the store would be without one of its checks. */
export function rewriting(rewrite: (sql: string) => string): Partial<Environment> {
  return changedConnections((database) => {
    const prepare = database.prepare.bind(database)
    database.prepare = ((sql: string) => prepare(rewrite(sql))) as typeof database.prepare
    return database
  })
}
