import { type AskFilter, askStatusCode } from '@pawl/core/storage'
import { sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import type { Names } from '../names.ts'
import { unindexed } from '../schema/planner.ts'
import { queries } from '../schema/queries.ts'
import { isAskedOf } from './ask-filter.ts'
import { buildNamedCount, isByNames } from './asks-of-names.ts'

/** Counts the matching asks, up to `limit`. */
export async function countAsks(database: Database, filter: AskFilter, limit: number): Promise<number> {
  if (filter.to?.length === 0) return 0
  const { names } = database
  const query = isByNames(filter) ? buildNamedCount(names, filter, limit) : buildCount(names, filter, limit)
  const [row] = await database.list(query)
  return row?.count ?? 0
}

function buildCount({ asks, runs }: Names, filter: AskFilter, limit: number) {
  const { status, overdue, run, now } = filter
  const due =
    overdue === null
      ? sql``
      : overdue
        ? sql`and a.due_at <= ${now}`
        : sql`and (a.due_at is null or a.due_at > ${now})`
  return sql<{ count: number }>`
    select count(*)::int as count from (
      select from ${sql.raw(asks)} a join ${sql.raw(runs)} r on r.run = a.run
      where ${sql.raw(run === null ? 'a.status' : unindexed('a.status'))} = ${askStatusCode.numberOf[status]}
        and ${isAskedOf(filter)} ${due} limit ${limit}::int) as counted`.compile(queries)
}
