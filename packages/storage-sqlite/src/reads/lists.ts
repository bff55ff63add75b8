import type { AskQuery, AskRow, RunQuery, RunRow } from '@pawl/core/storage'
import type { Database, Statement } from 'better-sqlite3'
import type { CompiledQuery } from 'kysely'
import { buildAskList, listBands } from './ask-list.ts'
import { type StoredAsk, type StoredRun, showAsk, showRun } from './reads.ts'
import { buildRunList } from './run-list.ts'

export interface Lists {
  listRuns(filter: RunQuery, at: number): readonly RunRow[]
  listAsks(filter: AskQuery): readonly AskRow[]
}

/** More than there are combinations of filters in use; then the cache starts anew. */
const mostStatements = 200

export function prepareLists(database: Database): Lists {
  const statements = new Map<string, Statement>()

  function readAll<Row>({ sql, parameters }: CompiledQuery): Row[] {
    let statement = statements.get(sql)
    if (!statement) {
      if (statements.size >= mostStatements) statements.clear()
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement.all(...parameters) as Row[]
  }

  return {
    listRuns: (filter, at) => readAll<StoredRun>(buildRunList(filter, at)).map(showRun),
    listAsks(filter) {
      const rows: StoredAsk[] = []
      for (const band of listBands(filter)) {
        if (rows.length >= filter.limit) break
        rows.push(...readAll<StoredAsk>(buildAskList(filter, band, filter.limit - rows.length)))
      }
      return rows.map(showAsk)
    },
  }
}
