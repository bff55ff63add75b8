import { checkName, refuse } from '../../checks/options.ts'
import { optional, readOptions, type Spec, whole } from '../../checks/spec.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../find-run.ts'
import type { LogPage } from '../types.ts'
import { explainUnread, hasOutrun } from '../unread.ts'
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
    if (await hasOutrun(store, row, error)) return readLog(connection, givenId, givenPage)
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

const pageOptions = {
  before: optional(whole(0), undefined),
  after: optional(whole(-1), undefined),
  limit: optional(whole(1, 1_000), undefined),
} satisfies Spec<LogPage>

function readRange(given: unknown): LogRange {
  const range = readOptions('of log', given, pageOptions, 'the page of log')
  const { before, after } = range
  if (before !== undefined && after !== undefined)
    refuse('after of log', after, 'Pass either before or after.')
  return range
}
