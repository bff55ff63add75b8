import { type AskFilter, everyone } from '@pawl/core/storage'
import { type RawBuilder, sql } from 'kysely'

/** Asks of one urgency that are all overdue, or all not. The indexes store each band in the order of the list. */
export interface Band {
  readonly overdue: boolean
  readonly urgency: number
  /** The rest of the band in which the previous page ended, in two parts, because the index cannot start at a place inside it. */
  readonly left?: 'of the same due' | 'due later'
}

/** SQL: whether the ask matches the filter, apart from its status. For rows of `asks` and `runs`. */
export function isAskedOf({ to, run, procedure, kind, lapsed, now }: AskFilter): RawBuilder<boolean> {
  const wanted = [
    ...(to === null ? [] : [isAskedOfAny(to, now)]),
    ...(run === null ? [] : [sql`runs.id = ${run}`]),
    ...(procedure === null ? [] : [sql`runs.procedure = ${procedure}`]),
    ...(kind === null ? [] : [sql`asks.kind = ${kind}`]),
    ...(lapsed === null ? [] : [hasLapsed('asks', lapsed, now)]),
  ]
  return wanted.length === 0 ? sql`true` : sql`${sql.join(wanted, sql` and `)}`
}

export function hasLapsed(table: string, lapsed: boolean, now: number): RawBuilder<unknown> {
  const closesAt = sql.ref(`${table}.closes_at`)
  return lapsed ? sql`${closesAt} <= ${now}` : sql`(${closesAt} is null or ${closesAt} > ${now})`
}

function isAskedOfAny(names: readonly string[], now: number): RawBuilder<unknown> {
  const conditions = names.map((name) =>
    name === everyone
      ? sql`asks.audience = '[]'`
      : sql`${hasName('audience', name)} or (asks.due_at <= ${now} and ${hasName('escalate_to', name)})`,
  )
  return sql`(${sql.join(conditions, sql` or `)})`
}

/**
 * Searches for the quoted name first, because parsing the list is what costs. A damaged list that may contain the
 * name matches: the reader of the row reports the damage, while parsing it here would fail the whole query.
 */
function hasName(column: 'audience' | 'escalate_to', name: string): RawBuilder<unknown> {
  const names = sql.ref(`asks.${column}`)
  return sql`case when instr(${names}, ${JSON.stringify(name)}) = 0 then 0
    when not json_valid(${names}) then 1
    else exists (select 1 from json_each(${names}) where value = ${name}) end`
}
