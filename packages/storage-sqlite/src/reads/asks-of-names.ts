import { type AskFilter, type AskQuery, type AskRow, placeAsk } from '@pawl/core/storage'
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { ReadAll } from '../connection/read-all.ts'
import { queries } from '../schema/queries.ts'
import { type Band, hasLapsed } from './ask-filter.ts'
import { askColumns, type StoredAsk, showAsk } from './asks.ts'

/** Returns whether `ask_to` can answer the filter: it contains open asks only. A single run has so few that its own index is as fast. */
export type ByNames<Filter extends AskFilter> = Filter & { readonly to: readonly string[] }

export function isByNames<Filter extends AskFilter>(filter: Filter): filter is ByNames<Filter> {
  return filter.status === 'open' && filter.run === null && filter.to !== null
}

/** One index lookup per name: most people have no open ask, and querying eight bands costs more than all the rest. */
export function hasAnyAsk(readAll: ReadAll, names: readonly string[]): boolean {
  const sql = `select 1 from ask_to where name in (${names.map(() => '?').join(', ')}) limit 1`
  const query = { sql, parameters: names } as CompiledQuery
  return readAll(query).length > 0
}

export type PlacedAsk = StoredAsk & { readonly due: number; readonly listed_at: number }

export function showPlaced(row: PlacedAsk, { urgency }: Band): AskRow {
  const dueAt = row.due === Number.MAX_SAFE_INTEGER ? null : row.due
  return placeAsk(showAsk(row), { urgency, dueAt, openedAt: row.listed_at })
}

/** Builds one part for each name, at most a page long. An ask with several of the names appears once. */
export function buildNamedList(
  filter: ByNames<AskQuery>,
  band: Band,
  limit: number,
): CompiledQuery<PlacedAsk> {
  const order = sql.raw(
    band.left === 'of the same due' ? 'opened_at, run, position' : 'due, opened_at, run, position',
  )
  const parts = filter.to.map(
    (name) => sql`select * from (
      select t.run, t.position, t.due, t.opened_at ${sourceOf(filter)}
      where t.name = ${name} and t.urgency = ${band.urgency}
        and t.due ${sql.raw(band.overdue ? '<=' : '>')} ${filter.now} ${sql.raw(band.overdue ? '' : 'and t.late = 0')}
        ${comesAfter(filter, band)} ${isWanted(filter)}
      order by ${sql.raw(band.left === 'of the same due' ? '' : 't.due, ')}t.opened_at, t.run, t.position limit ${limit})`,
  )
  return sql<PlacedAsk>`
    select ${sql.raw(askColumns.join(', '))}, page.due, page.opened_at as listed_at from (
      select * from (${sql.join(parts, sql` union `)}) order by ${order} limit ${limit}) as page
    cross join asks on asks.run = page.run and asks.position = page.position
    cross join runs on runs.run = page.run
    cross join run_info on run_info.run = page.run
    order by page.due, page.opened_at, page.run, page.position`.compile(queries)
}

export function buildNamedCount(
  filter: ByNames<AskFilter>,
  limit: number,
): CompiledQuery<{ readonly count: number }> {
  const { now, overdue } = filter
  const due =
    overdue === null
      ? sql`and (t.late = 0 or t.due <= ${now})`
      : overdue
        ? sql`and t.due <= ${now}`
        : sql`and t.due > ${now} and t.late = 0`
  const parts = filter.to.map(
    (name) => sql`select * from (
      select t.run, t.position ${sourceOf(filter)} where t.name = ${name} ${due} ${isWanted(filter)} limit ${limit})`,
  )
  return sql<{ count: number }>`
    select count(*) as count from (select * from (${sql.join(parts, sql` union `)}) limit ${limit})`.compile(
    queries,
  )
}

/** The names, each with at most as many asks as the filter examines. */
function sourceOf({ kind, procedure }: AskFilter): RawBuilder<unknown> {
  return sql`from ask_to as t
    ${kind === null ? sql`` : sql`cross join asks as a on a.run = t.run and a.position = t.position`}
    ${procedure === null ? sql`` : sql`cross join runs as r on r.run = t.run`}`
}

function isWanted({ kind, procedure, lapsed, now }: AskFilter): RawBuilder<unknown> {
  return sql`${kind === null ? sql`` : sql`and a.kind = ${kind}`}
    ${procedure === null ? sql`` : sql`and r.procedure = ${procedure}`}
    ${lapsed === null ? sql`` : sql`and ${hasLapsed('t', lapsed, now)}`}`
}

function comesAfter({ after }: AskQuery, { left }: Band): RawBuilder<unknown> {
  if (left === undefined || after === null) return sql``
  const { dueAt, openedAt, run, position } = after
  const due = dueAt ?? Number.MAX_SAFE_INTEGER
  if (left === 'due later') return sql`and t.due > ${due}`
  return sql`and t.due = ${due} and (t.opened_at, t.run, t.position) > (${openedAt}, ${run}, ${position})`
}
