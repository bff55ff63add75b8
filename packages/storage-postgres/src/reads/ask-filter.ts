import { type AskFilter, everyone } from '@pawl/core/storage'
import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** SQL: whether the ask matches the filter, apart from its status. For rows of `asks` as a and `runs` as r. */
export function isAskedOf({ to, run, procedure, kind, lapsed, now }: AskFilter): RawBuilder<SqlBool> {
  const wanted = [
    sql`true`,
    ...(to === null ? [] : [isAskedOfAny(to, now)]),
    ...(run === null ? [] : [sql`r.id = ${run}`]),
    ...(procedure === null ? [] : [sql`r.procedure = ${procedure}`]),
    ...(kind === null ? [] : [sql`a.kind = ${kind}`]),
    ...(lapsed === null ? [] : [hasLapsed('a', lapsed, now)]),
  ]
  return sql`${sql.join(wanted, sql` and `)}`
}

export function hasLapsed(table: string, lapsed: boolean, now: number): RawBuilder<SqlBool> {
  const closesAt = sql.ref(`${table}.closes_at`)
  return lapsed ? sql`${closesAt} <= ${now}` : sql`(${closesAt} is null or ${closesAt} > ${now})`
}

function isAskedOfAny(names: readonly string[], now: number): RawBuilder<SqlBool> {
  const conditions = names.map((name) =>
    name === everyone
      ? sql<SqlBool>`a.audience = '{}'`
      : sql<SqlBool>`${name} = any(a.audience) or (a.due_at <= ${now} and ${name} = any(a.escalate_to))`,
  )
  return sql`(${sql.join(conditions, sql` or `)})`
}
