import {
  type AskOrder,
  type AskQuery,
  type AskRow,
  askOrder,
  askStatusCode,
  compareOrder,
} from '@pawl/core/storage'
import { type CompiledQuery, sql } from 'kysely'
import type { ReadAll } from '../connection/read-all.ts'
import { queries } from '../schema/queries.ts'
import { type Band, isAskedOf } from './ask-filter.ts'
import { askColumns, type StoredAsk, showAsk } from './asks.ts'
import { buildNamedList, hasAnyAsk, isByNames, showPlaced } from './asks-of-names.ts'

/** Lists asks, the most urgent first. */
export function listAsks(readAll: ReadAll, filter: AskQuery): readonly AskRow[] {
  const { run, status, to } = filter
  if (to?.length === 0) return []
  if (run !== null && readAll(findAny(run, status)).length === 0) return []
  if (isByNames(filter) && !hasAnyAsk(readAll, filter.to)) return []
  const rows: AskRow[] = []
  for (const band of listBands(filter)) {
    const limit = filter.limit - rows.length
    if (limit <= 0) break
    if (isByNames(filter))
      rows.push(...readAll(buildNamedList(filter, band, limit)).map((row) => showPlaced(row, band)))
    else rows.push(...readAll(buildAskList(filter, band, limit)).map(showAsk))
  }
  return rows
}

/** Builds a cheap lookup for callers that poll until a run asks. */
function findAny(run: string, status: AskQuery['status']) {
  return queries
    .selectFrom('asks')
    .select('position')
    .where('run', '=', (where) => where.selectFrom('runs').select('run').where('id', '=', run))
    .where('status', '=', askStatusCode.numberOf[status])
    .limit(1)
    .compile()
}

// Same expression as the indexes `asks_order` and `asks_of_run`: an ask that never becomes overdue comes last.
const due = sql<number>`ifnull(due_at, 9007199254740991)`

// Columns of the sort keys within a band. The first two keys select the band.
const columns = {
  dueAt: due,
  openedAt: sql.ref('opened_at'),
  run: sql.ref('asks.run'),
  position: sql.ref('asks.position'),
} as const
const [, , ...orderInBand] = askOrder
/** All of these ascend, so one comparison of row values finds the rows behind a place. */
const [, ...orderOfSameDue] = orderInBand

/** Returns the bands of the list, the most urgent first, from where the previous page ended. */
export function listBands({ overdue, after }: AskQuery): readonly Band[] {
  const bands = [true, false].flatMap((late) => [3, 2, 1, 0].map((urgency) => ({ overdue: late, urgency })))
  const wanted = bands.filter((band) => overdue === null || band.overdue === overdue)
  if (after === null) return wanted
  return wanted
    .filter((band) => compareOrder(band, after) >= 0)
    .flatMap((band): Band[] =>
      compareOrder(band, after) > 0
        ? [band]
        : [
            { ...band, left: 'of the same due' },
            { ...band, left: 'due later' },
          ],
    )
}

export function buildAskList(filter: AskQuery, band: Band, limit: number): CompiledQuery<StoredAsk> {
  const { status, now, after } = filter
  let query = queries
    .selectFrom('asks')
    .innerJoin('runs', 'runs.run', 'asks.run')
    .innerJoin('run_info', 'run_info.run', 'asks.run')
    .select(askColumns)
    .where('asks.status', '=', askStatusCode.numberOf[status])
    .where('urgency', '=', band.urgency)
    .where(due, band.overdue ? '<=' : '>', now)
    .$if(band.left !== undefined, (query) => query.where(comesAfter(after, band.left === 'due later')))
    .where(isAskedOf(filter))
    .limit(limit)
  for (const { key, direction } of band.left === 'of the same due' ? orderOfSameDue : orderInBand)
    query = query.orderBy(columns[key], direction)
  return query.compile()
}

function comesAfter(after: AskOrder | null, isDueLater: boolean) {
  const place = after as AskOrder
  const dueOrNever = place.dueAt ?? Number.MAX_SAFE_INTEGER
  if (isDueLater) return sql<boolean>`${due} > ${dueOrNever}`
  const names = sql.join(orderOfSameDue.map(({ key }) => columns[key]))
  const values = sql.join(orderOfSameDue.map(({ key }) => place[key]))
  return sql<boolean>`${due} = ${dueOrNever} and (${names}) > (${values})`
}
