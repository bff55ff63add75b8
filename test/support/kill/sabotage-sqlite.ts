import Database from 'better-sqlite3'
import { type Sabotage, Writes } from './sabotage.ts'

/** A write is a transaction. */
export function sabotageSqlite(sabotage: Sabotage): void {
  const prepare = Database.prototype.prepare
  const writes = new Writes(sabotage)
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, rewrite(sql, sabotage)) as Database.Statement<[]>
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
