import type { Database } from '@pawl/storage-sqlite/internal'
import { rawConnections } from '../sqlite.ts'
import { type Sabotage, Writes } from './sabotage.ts'

/** A write is a transaction. */
export function sabotageSqlite(sabotage: Sabotage): void {
  const prepare = rawConnections.prepare
  const writes = new Writes(sabotage)
  rawConnections.prepare = function (this: Database, sql: string) {
    const statement = prepare.call(this, rewrite(sql, sabotage))
    if (sql !== 'commit') return statement
    const run = statement.run.bind(statement)
    statement.run = () => {
      const pass = writes.begin()
      const result = run()
      pass('after')
      return result
    }
    return statement
  } as typeof prepare
}

function rewrite(sql: string, { isDeaf, withoutFence }: Sabotage): string {
  const deaf = isDeaf ? sql.replace(/(set beat_at = .*) and dead = 0/, '$1') : sql
  if (!withoutFence) return deaf
  return deaf.replace(
    /where run = \? and epoch = \? and head = \? and worker = \?/,
    'where run = ? and ? > 0 and head = ? and ? > 0',
  )
}
