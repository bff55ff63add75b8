import { markCode, type RunQuery, stateCode } from '@pawl/core/storage'
import { type CompiledQuery, type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { queries } from '../schema/queries.ts'
import type { Schema } from '../schema/tables.ts'
import { runColumns } from './reads.ts'

type RunStatus = RunQuery['statuses'][number]
type Where = ExpressionBuilder<Schema, 'runs'>

/** Newest first. Rows are those of `showRun`. */
export function buildRunList(filter: RunQuery, at: number): CompiledQuery {
  const { procedure, statuses, tag, before, limit } = filter
  return queries
    .selectFrom('runs')
    .innerJoin('run_info', 'run_info.run', 'runs.run')
    .select(sql.raw(runColumns) as never)
    .$if(procedure !== null, (query) => query.where('procedure', '=', procedure as string))
    .$if(statuses.length > 0, (query) =>
      query.where((where) => where.or(statuses.map((one) => hasStatus(where, one, at)))),
    )
    .$if(tag !== null, (query) =>
      query.where('runs.run', 'in', (inner) =>
        inner
          .selectFrom('run_tags')
          .select('run')
          .where('tag', '=', tag as string),
      ),
    )
    .$if(before !== null, (query) => query.where('runs.run', '<', before as number))
    .orderBy('runs.run', 'desc')
    .limit(limit)
    .compile()
}

function hasStatus(where: Where, status: RunStatus, at: number): Expression<SqlBool> {
  const isLive = where('state', '=', stateCode.numberOf.live)
  const isUnmarked = where('mark', '=', markCode.numberOf.none)
  const isActive = where.or([where('worker', 'is not', null), where('wake_at', '<=', at)])
  switch (status) {
    case 'running':
      return where.and([isLive, isUnmarked, isActive])
    case 'waiting':
      return where.and([
        isLive,
        isUnmarked,
        where('worker', 'is', null),
        where.or([where('wake_at', 'is', null), where('wake_at', '>', at)]),
      ])
    case 'stuck':
    case 'quarantined':
      // With the condition of the index of marked runs.
      return where.and([isLive, where('mark', '<>', 0), where('mark', '=', markCode.numberOf[status])])
    default:
      return where('state', '=', stateCode.numberOf[status])
  }
}
