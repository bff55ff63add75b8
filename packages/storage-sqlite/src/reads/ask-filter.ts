import { type AskFilter, everyone } from '@pawl/core/storage'
import { type RawBuilder, sql } from 'kysely'

/** The asks of one urgency that are all overdue, or all not. The indexes have each band in the order of the list. */
export interface Band {
  readonly overdue: boolean
  readonly urgency: number
  /** Of the band in which the page before ended what is left of it: in two parts, since the index knows of no place in it. */
  readonly left?: 'of the same due' | 'due later'
}

/** SQL: whether the ask is one that the filter wants, beside its status. For rows of `asks` and `runs`. */
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
 * The quick look for the quoted name comes first: taking the list apart is what costs. One that is damaged and may have
 * had the name counts: the reader of the row finds that out, while taking it apart would fail the whole list.
 */
function hasName(column: 'audience' | 'escalate_to', name: string): RawBuilder<unknown> {
  const names = sql.ref(`asks.${column}`)
  return sql`case when instr(${names}, ${JSON.stringify(name)}) = 0 then 0
    when not json_valid(${names}) then 1
    else exists (select 1 from json_each(${names}) where value = ${name}) end`
}
