import { type AskQuery, type AskRow, askStatusCode, type RunQuery, type RunRow } from '@pawl/core/storage'
import type { ReadAll } from '../connection/read-all.ts'
import { buildAskList, listBands } from './ask-list.ts'
import { type StoredAsk, type StoredRun, showAsk, showRun } from './reads.ts'
import { buildRunList } from './run-list.ts'

export function listRuns(readAll: ReadAll, filter: RunQuery, at: number): readonly RunRow[] {
  return readAll<StoredRun>(buildRunList(filter, at)).map(showRun)
}

/** One look at an index, for the many that wait until somebody is asked. */
const findAny = 'select 1 from asks where run = (select run from runs where id = ?) and status = ? limit 1'

export function listAsks(readAll: ReadAll, filter: AskQuery): readonly AskRow[] {
  const { run, status } = filter
  const nothing =
    run !== null && readAll({ sql: findAny, parameters: [run, askStatusCode.numberOf[status]] }).length === 0
  if (nothing) return []
  const rows: StoredAsk[] = []
  for (const band of listBands(filter)) {
    if (rows.length >= filter.limit) break
    rows.push(...readAll<StoredAsk>(buildAskList(filter, band, filter.limit - rows.length)))
  }
  return rows.map(showAsk)
}
