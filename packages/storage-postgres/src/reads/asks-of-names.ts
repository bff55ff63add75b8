import { type AskFilter, type AskOrder, type AskQuery, type AskRow, placeAsk } from '@pawl/core/storage'
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import type { Names } from '../names.ts'
import { queries } from '../schema/queries.ts'
import { hasLapsed } from './ask-filter.ts'
import { askColumns, type StoredAsk, showAsk } from './asks.ts'

/** Returns whether `ask_to` can answer the filter: it contains open asks only. A single run has so few that its own index is as fast. */
export type ByNames<Filter extends AskFilter> = Filter & { readonly to: readonly string[] }

export function isByNames<Filter extends AskFilter>(filter: Filter): filter is ByNames<Filter> {
  return filter.status === 'open' && filter.run === null && filter.to !== null
}

/**
 * Builds one part for each name and urgency, in index order and at most a page long. An ask with several of the
 * names appears once.
 */
export async function listNamedPart(
  database: Database,
  isOverdue: boolean,
  filter: ByNames<AskQuery>,
  limit: number,
): Promise<readonly AskRow[]> {
  const { names } = database
  const { now, after } = filter
  const query = sql<PlacedAsk>`
    select ${sql.raw(askColumns.join(', '))}, page.due, page.opened_at as listed_at, page.urgency as level from (
      select distinct on (found.urgency, found.due, found.opened_at, found.run, found.position) found.*
      from (${wantedNames(filter)}) as wanted(name)
      cross join (values (3::int2), (2::int2), (1::int2), (0::int2)) as level(urgency)
      cross join lateral (
        select t.run, t.position, t.urgency, t.due, t.opened_at ${sourceOf(names, filter)}
        where t.name = wanted.name and t.urgency = level.urgency
          and t.due ${sql.raw(isOverdue ? '<=' : '>')} ${now}::bigint ${sql.raw(isOverdue ? '' : 'and not t.late')}
          ${isWanted(filter)}
          ${after?.overdue === isOverdue ? comesAfter(after) : sql``}
        order by t.due, t.opened_at, t.run, t.position limit ${limit}::int) as found
      order by found.urgency desc, found.due, found.opened_at, found.run, found.position limit ${limit}::int) as page
    join ${sql.raw(names.asks)} a on a.run = page.run and a.position = page.position
    join ${sql.raw(names.runs)} r on r.run = page.run
    join ${sql.raw(names.runInfo)} f on f.run = page.run
    order by page.urgency desc, page.due, page.opened_at, page.run, page.position`.compile(queries)
  return (await database.list(query)).map(showPlaced)
}

type PlacedAsk = StoredAsk & { readonly due: number; readonly listed_at: number; readonly level: number }

function showPlaced(row: PlacedAsk): AskRow {
  const dueAt = row.due === Number.MAX_SAFE_INTEGER ? null : row.due
  return placeAsk(showAsk(row), { urgency: row.level, dueAt, openedAt: row.listed_at })
}

export function buildNamedCount(
  names: Names,
  filter: ByNames<AskFilter>,
  limit: number,
): CompiledQuery<{ readonly count: number }> {
  const { now, overdue } = filter
  const due =
    overdue === null
      ? sql`(not t.late or t.due <= ${now}::bigint)`
      : overdue
        ? sql`t.due <= ${now}::bigint`
        : sql`t.due > ${now}::bigint and not t.late`
  return sql<{ count: number }>`
    select least(count(*), ${limit}::int)::int as count from (
      select distinct found.run, found.position
      from (${wantedNames(filter)}) as wanted(name)
      cross join lateral (
        select t.run, t.position ${sourceOf(names, filter)}
        where t.name = wanted.name and ${due} ${isWanted(filter)} limit ${limit}::int) as found) as counted`.compile(
    queries,
  )
}

function wantedNames({ to }: ByNames<AskFilter>): RawBuilder<unknown> {
  return sql`values ${sql.join([...new Set(to)].map((name) => sql`(${name}::text)`))}`
}

/** The names, each with at most as many asks as the filter examines. */
function sourceOf({ askTo, asks, runs }: Names, { kind, procedure }: AskFilter): RawBuilder<unknown> {
  return sql`from ${sql.raw(askTo)} t
    ${kind === null ? sql`` : sql`join ${sql.raw(asks)} a on a.run = t.run and a.position = t.position`}
    ${procedure === null ? sql`` : sql`join ${sql.raw(runs)} r on r.run = t.run`}`
}

function isWanted({ kind, procedure, lapsed, now }: AskFilter): RawBuilder<unknown> {
  return sql`${kind === null ? sql`` : sql`and a.kind = ${kind}`}
    ${procedure === null ? sql`` : sql`and r.procedure = ${procedure}`}
    ${lapsed === null ? sql`` : sql`and ${hasLapsed('t', lapsed, now)}`}`
}

function comesAfter({ urgency, dueAt, openedAt, run, position }: AskOrder): RawBuilder<unknown> {
  const due = dueAt ?? Number.MAX_SAFE_INTEGER
  return sql`and level.urgency <= ${urgency}::int2 and (level.urgency < ${urgency}::int2
    or (t.due, t.opened_at, t.run, t.position) > (${due}::bigint, ${openedAt}::bigint, ${run}::bigint, ${position}::int))`
}
