import type { CompiledQuery } from 'kysely'
import type { Database, Statement } from './database.ts'

/** Returns the rows of a dynamic statement. Prepared statements are cached by their SQL. */
export type ReadAll = <Row>(query: CompiledQuery<Row>) => Row[]

/** Maximum size of the cache, above the combinations of filters in use. Beyond it the cache is cleared. */
const maxStatements = 200

export function prepareReadAll(database: Database): ReadAll {
  const statements = new Map<string, Statement>()

  return <Row>({ sql, parameters }: CompiledQuery<Row>) => {
    let statement = statements.get(sql)
    if (!statement) {
      if (statements.size >= maxStatements) statements.clear()
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement.all(...parameters) as Row[]
  }
}
