import { type AskFilter, askStatusCode } from '@pawl/core/storage'
import { sql } from 'kysely'
import type { ReadAll } from '../connection/read-all.ts'
import { queries } from '../schema/queries.ts'
import { isAskedOf } from './ask-filter.ts'
import { buildNamedCount, isByNames } from './asks-of-names.ts'

/** Counts the matching asks, up to `limit`. */
export function countAsks(readAll: ReadAll, filter: AskFilter, limit: number): number {
  if (filter.to?.length === 0) return 0
  const query = isByNames(filter) ? buildNamedCount(filter, limit) : buildCount(filter, limit)
  return readAll(query)[0]?.count ?? 0
}

function buildCount(filter: AskFilter, limit: number) {
  const { status, overdue, now } = filter
  const due =
    overdue === null
      ? sql``
      : overdue
        ? sql`and asks.due_at <= ${now}`
        : sql`and (asks.due_at is null or asks.due_at > ${now})`
  return sql<{ count: number }>`
    select count(*) as count from (
      select 1 from asks join runs on runs.run = asks.run
      where asks.status = ${askStatusCode.numberOf[status]} and ${isAskedOf(filter)} ${due} limit ${limit})`.compile(
    queries,
  )
}
