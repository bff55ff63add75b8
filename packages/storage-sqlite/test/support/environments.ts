import { driver } from '../../../../test/support/sqlite.ts'
import { type Environment, realEnvironment } from '../../src/connection/connection.ts'
import type { Database } from '../../src/connection/database.ts'

/** An environment whose connections go through `change` once they are open. */
export function changedConnections(
  change: (database: Database) => Database | undefined,
): Partial<Environment> {
  return {
    async connect(file) {
      const database = await realEnvironment(driver).connect(file)
      return change(database) ?? database
    },
  }
}

/** Connections with other words in their statements: what the store would be without one of its checks. */
export function rewriting(rewrite: (sql: string) => string): Partial<Environment> {
  return changedConnections((database) => {
    const prepare = database.prepare.bind(database)
    database.prepare = ((sql: string) => prepare(rewrite(sql))) as typeof database.prepare
    return database
  })
}
