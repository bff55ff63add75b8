import type { AskQuery, AskRow, RunQuery, RunRow } from '@pawl/core/storage'
import { buildAskList, listBands } from './ask-list.ts'
import type { ReadAll } from './read-all.ts'
import { type StoredAsk, type StoredRun, showAsk, showRun } from './reads.ts'
import { buildRunList } from './run-list.ts'

export function listRuns(readAll: ReadAll, filter: RunQuery, at: number): readonly RunRow[] {
  return readAll<StoredRun>(buildRunList(filter, at)).map(showRun)
}

export function listAsks(readAll: ReadAll, filter: AskQuery): readonly AskRow[] {
  const rows: StoredAsk[] = []
  for (const band of listBands(filter)) {
    if (rows.length >= filter.limit) break
    rows.push(...readAll<StoredAsk>(buildAskList(filter, band, filter.limit - rows.length)))
  }
  return rows.map(showAsk)
}
