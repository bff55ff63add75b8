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
import { askColumns, type StoredAsk, showAsk } from './asks.ts'

/** The asks of one urgency that are all overdue, or all not. The indexes have each band in the order of the list. */
export interface Band {
  readonly overdue: boolean
  readonly urgency: number
  /** Of the band in which the page before ended what is left of it: in two parts, since the index knows of no place in it. */
  readonly left?: 'of the same due' | 'due later'
}

/** The most urgent first. */
export function listAsks(readAll: ReadAll, filter: AskQuery): readonly AskRow[] {
  const { run, status } = filter
  if (run !== null && readAll(findAny(run, status)).length === 0) return []
  const rows: StoredAsk[] = []
  for (const band of listBands(filter)) {
    if (rows.length >= filter.limit) break
    rows.push(...readAll(buildAskList(filter, band, filter.limit - rows.length)))
  }
  return rows.map(showAsk)
}

/** One look at an index, for the many that wait until a run asks. */
function findAny(run: string, status: AskQuery['status']) {
  return queries
    .selectFrom('asks')
    .select('position')
    .where('run', '=', (where) => where.selectFrom('runs').select('run').where('id', '=', run))
    .where('status', '=', askStatusCode.numberOf[status])
    .limit(1)
    .compile()
}

// The expression of the indexes `asks_order` and `asks_of_run`: an ask that never becomes overdue comes last.
const due = sql<number>`ifnull(due_at, 9007199254740991)`

// The columns of the keys that order a band: the first two say which band it is.
const columns = {
  dueAt: due,
  openedAt: sql.ref('opened_at'),
  run: sql.ref('asks.run'),
  position: sql.ref('asks.position'),
} as const
const [, , ...orderInBand] = askOrder
/** All of them ascend: one comparison of rows says what is behind a place. */
const [, ...orderOfSameDue] = orderInBand

/** The bands of the list, the most urgent first, from where the page before ended. */
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
  const { status, to, run, procedure, kind, lapsed, now, after } = filter
  let query = queries
    .selectFrom('asks')
    .innerJoin('runs', 'runs.run', 'asks.run')
    .innerJoin('run_info', 'run_info.run', 'asks.run')
    .select(askColumns)
    .where('asks.status', '=', askStatusCode.numberOf[status])
    .where('urgency', '=', band.urgency)
    .where(due, band.overdue ? '<=' : '>', now)
    .$if(band.left !== undefined, (query) => query.where(comesAfter(after, band.left === 'due later')))
    .$if(lapsed !== null, (query) => query.where(hasLapsed(lapsed === true, now)))
    .$if(to !== null, (query) =>
      query.where((where) =>
        where.or(
          band.overdue
            ? [hasName('audience', to as string), hasName('escalate_to', to as string)]
            : [hasName('audience', to as string)],
        ),
      ),
    )
    .$if(run !== null, (query) => query.where('runs.id', '=', run as string))
    .$if(procedure !== null, (query) => query.where('runs.procedure', '=', procedure as string))
    .$if(kind !== null, (query) => query.where('asks.kind', '=', kind as string))
    .limit(limit)
  for (const { key, direction } of band.left === 'of the same due' ? orderOfSameDue : orderInBand)
    query = query.orderBy(columns[key], direction)
  return query.compile()
}

function hasLapsed(lapsed: boolean, now: number) {
  return lapsed ? sql<boolean>`closes_at <= ${now}` : sql<boolean>`(closes_at is null or closes_at > ${now})`
}

function comesAfter(after: AskOrder | null, isDueLater: boolean) {
  const place = after as AskOrder
  const dueOrNever = place.dueAt ?? Number.MAX_SAFE_INTEGER
  if (isDueLater) return sql<boolean>`${due} > ${dueOrNever}`
  const names = sql.join(orderOfSameDue.map(({ key }) => columns[key]))
  const values = sql.join(orderOfSameDue.map(({ key }) => place[key]))
  return sql<boolean>`${due} = ${dueOrNever} and (${names}) > (${values})`
}

/**
 * The quick look for the quoted name comes first: taking the list apart is what costs. One that is damaged and may have
 * had the name counts: whoever reads the row finds that out, while taking it apart would fail the whole list.
 */
function hasName(column: 'audience' | 'escalate_to', name: string) {
  const names = sql.ref(`asks.${column}`)
  return sql<boolean>`case when instr(${names}, ${JSON.stringify(name)}) = 0 then 0
    when not json_valid(${names}) then 1
    else exists (select 1 from json_each(${names}) where value = ${name}) end`
}
