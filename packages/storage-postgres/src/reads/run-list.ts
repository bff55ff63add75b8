import { markCode, noticeKindCode, type RunQuery, type RunRow, stateCode } from '@pawl/core/storage'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import { type Names, storeTime } from '../names.ts'
import { queries } from '../schema/queries.ts'
import { runColumns, showRun } from './runs.ts'

/** Newest first. */
export async function listRuns(
  database: Database,
  { procedure, statuses, tag, parent, failedUndo, before, limit }: RunQuery,
): Promise<readonly RunRow[]> {
  let query = queries
    .withSchema(database.names.schema)
    .selectFrom('runs as r')
    .innerJoin('run_info as f', 'f.run', 'r.run')
    .select(runColumns)
    .orderBy('r.run', 'desc')
    .limit(limit)
  // The indexes for lists are on the columns of run_info.
  if (procedure !== null) query = query.where('f.procedure', '=', procedure)
  if (tag !== null) query = query.where(sql<SqlBool>`f.tags <> '{}' and f.tags @> array[${tag}]::text[]`)
  if (parent !== null) query = query.where('f.parent', '=', parent)
  if (failedUndo) {
    const { notices, runs } = database.names
    query = query.where(
      sql<SqlBool>`r.run in (${sql.raw(`select x.run from ${notices} x join ${runs} o on o.run = x.run
      where x.kind = ${noticeKindCode.numberOf['failed-undo']} and x.seq >= o.base`)})`,
    )
  }
  if (before !== null) query = query.where('r.run', '<', before)
  if (statuses.length > 0)
    query = query.where(
      sql<SqlBool>`(${sql.join(
        statuses.map((one) => isOf(one, database.names)),
        sql` or `,
      )})`,
    )
  return (await database.list(query.compile())).map(showRun)
}

type Status = RunQuery['statuses'][number]

const isLive = sql<SqlBool>`f.ended_at is null and r.state = ${sql.lit(stateCode.numberOf.live)}`
const isUnmarked = sql<SqlBool>`r.mark = ${sql.lit(markCode.numberOf.none)}`
const isOwned = sql<SqlBool>`r.worker is not null`
const isDue = sql<SqlBool>`coalesce(r.wake_at <= (select ${sql.raw(storeTime)}), false)`

/** Owned or due runs. Uses the indexes of both: most live runs wait, and a scan would visit all of them. */
function isActive({ runs }: Names): RawBuilder<SqlBool> {
  const isPast = `wake_at is not null and wake_at <= (select ${storeTime})`
  return sql`r.run in (${sql.raw(`select run from ${runs} where worker is not null
    union all select run from ${runs} where worker is null and ${isPast}`)})`
}

// Numbers are literals: the planner cannot choose a partial index by a parameter.
function isOf(status: Status, names: Names): RawBuilder<SqlBool> {
  switch (status) {
    case 'running':
      return sql`(${isLive} and ${isUnmarked} and ${isActive(names)})`
    case 'waiting':
      return sql`(${isLive} and ${isUnmarked} and not (${isOwned} or ${isDue}))`
    case 'stuck':
    case 'quarantined':
      return sql`(${isLive} and r.mark = ${sql.lit(markCode.numberOf[status])})`
    default:
      return sql`r.state = ${sql.lit(stateCode.numberOf[status])}`
  }
}
