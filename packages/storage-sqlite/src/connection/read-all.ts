import type { Database, Statement } from 'better-sqlite3'
import type { CompiledQuery } from 'kysely'

/** The rows of a statement that was made for the occasion; it is prepared once however often it is asked. */
export type ReadAll = <Row>(query: CompiledQuery<Row>) => Row[]

/** More than there are combinations of filters in use; then the cache starts anew. */
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
