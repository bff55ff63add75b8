import { checkKeys, checkName, checkObject, checkWhole, refuse } from '../../checks/options.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../runs/find.ts'
import { explainUnread } from '../unread.ts'
import type { ExecutionLog } from '../views/views.ts'
import { toExecutionLog, waitingOf } from './execution-log.ts'
import { readGeneration, readLogPages } from './pages.ts'
import { type LogRange, type ReadSpan, selectNewest, selectOldest } from './select.ts'

/** Reads the execution log of a run, or a page of it. */
export async function readLog(
  connection: Connection,
  givenId: unknown,
  givenPage: unknown,
): Promise<ExecutionLog> {
  const id = checkName('id of log', givenId)
  const range = readRange(givenPage)
  const store = await connection.store()
  const row = await findRun(connection, id)
  const readSpan: ReadSpan = (first, end) => readLogPages(store, connection.sha256, row, first, end)
  try {
    const { number, firstPosition } = await readGeneration(store, row)
    const log = await readRangeOf(row, readSpan, range, firstPosition)
    return { ...log, generation: number }
  } catch (error) {
    throw explainUnread(id, `The log of run ${id}`, error)
  }
}

async function readRangeOf(
  row: KnownRun,
  readSpan: ReadSpan,
  range: LogRange,
  firstPosition: number,
): Promise<Omit<ExecutionLog, 'generation'>> {
  const { before, after, limit } = range
  if (after !== undefined)
    return toExecutionLog(
      row,
      [await selectOldest(readSpan(row.base, row.head), range, firstPosition)],
      range,
    )
  if (before === undefined && limit === undefined) return toExecutionLog(row, readSpan(row.base, row.head))
  const waiting = waitingOf(row).map(({ position }) => position)
  return toExecutionLog(row, [await selectNewest(readSpan, { ...row, firstPosition }, range, waiting)], range)
}

function readRange(given: unknown): LogRange {
  const page = checkObject('page of log', given)
  checkKeys('the page of log', page, ['before', 'after', 'limit'])
  const { before, after, limit } = page
  if (before !== undefined && after !== undefined)
    refuse('after of log', after, 'Pass either before or after.')
  const most = Number.MAX_SAFE_INTEGER
  return {
    before: before === undefined ? undefined : checkWhole('before of log', before, 0, most),
    after: after === undefined ? undefined : checkWhole('after of log', after, -1, most),
    limit: limit === undefined ? undefined : checkWhole('limit of log', limit, 1, 1_000),
  }
}
