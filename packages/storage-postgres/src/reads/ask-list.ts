import {
  type AskOrder,
  type AskOrderKey,
  type AskQuery,
  type AskRow,
  askOrder,
  askStatusCode,
} from '@pawl/core/storage'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import { unindexed } from '../schema/planner.ts'
import { queries } from '../schema/queries.ts'
import { isAskedOf } from './ask-filter.ts'
import { askColumns, showAsk } from './asks.ts'
import { isByNames, listNamedPart } from './asks-of-names.ts'

/** Most urgent first. */
export async function listAsks(database: Database, filter: AskQuery): Promise<readonly AskRow[]> {
  const { overdue, after, limit, to } = filter
  if (to?.length === 0) return []
  const isPastOverdue = after?.overdue === false
  const late = overdue === false || isPastOverdue ? [] : await listPart(database, true, filter, limit)
  if (overdue === true || late.length >= limit) return late
  return [...late, ...(await listPart(database, false, filter, limit - late.length))]
}

/** One of the two parts of the list. Within a part, the index provides the order. */
async function listPart(
  database: Database,
  isOverdue: boolean,
  filter: AskQuery,
  limit: number,
): Promise<readonly AskRow[]> {
  if (isByNames(filter)) return listNamedPart(database, isOverdue, filter, limit)
  const { status, run, now, after } = filter
  let query = queries
    .withSchema(database.names.schema)
    .selectFrom('asks as a')
    .innerJoin('runs as r', 'r.run', 'a.run')
    .innerJoin('run_info as f', 'f.run', 'a.run')
    .select(askColumns)
    // Asks of one run are looked up by the run, not by scanning all open asks.
    .where(
      run === null ? sql.ref('a.status') : sql.raw(unindexed('a.status')),
      '=',
      askStatusCode.numberOf[status],
    )
    .where(
      isOverdue ? sql<SqlBool>`a.due_at <= ${now}` : sql<SqlBool>`(a.due_at is null or a.due_at > ${now})`,
    )
    .limit(limit)
  // PostgreSQL sorts nulls last by itself.
  for (const { key, direction } of orderInPart) query = query.orderBy(columns[key], direction)
  query = query.where(isAskedOf(filter))
  if (after?.overdue === isOverdue) query = query.where(comesAfter(after))
  return (await database.list(query.compile())).map(showAsk)
}

// The column of each sort key. The first key has none: it selects the part of the list.
const columns = {
  urgency: 'a.urgency',
  dueAt: 'a.due_at',
  openedAt: 'a.opened_at',
  run: 'a.run',
  position: 'a.position',
} as const
const [, ...orderInPart] = askOrder

/** SQL: whether the row comes after that place, among rows that are all overdue or all not. */
function comesAfter(after: AskOrder): RawBuilder<SqlBool> {
  return orderInPart.reduceRight<RawBuilder<SqlBool>>((behindInRest, { key, ...order }) => {
    const column = sql.ref(columns[key])
    const value = after[key]
    if (value === null) return sql`(${column} is null and ${behindInRest})`
    return sql`(${isBehind(column, value, order)} or (${column} = ${value} and ${behindInRest}))`
  }, sql`false`)
}

function isBehind(
  column: RawBuilder<unknown>,
  value: number,
  { direction, nulls }: Omit<AskOrderKey, 'key'>,
): RawBuilder<SqlBool> {
  const isFurther =
    direction === 'asc' ? sql<SqlBool>`${column} > ${value}` : sql<SqlBool>`${column} < ${value}`
  return nulls === 'last' ? sql`(${column} is null or ${isFurther})` : isFurther
}
