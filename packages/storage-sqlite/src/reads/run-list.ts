import { markCode, noticeKindCode, type RunQuery, type RunRow, stateCode } from '@pawl/core/storage'
import { type CompiledQuery, type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { ReadAll } from '../connection/read-all.ts'
import { queries } from '../schema/queries.ts'
import type { Schema } from '../schema/tables.ts'
import { runColumns, type StoredRun, showRun } from './runs.ts'

type RunStatus = RunQuery['statuses'][number]
type Where = ExpressionBuilder<Schema, 'runs'>

/** Lists runs, the newest first. */
export function listRuns(readAll: ReadAll, filter: RunQuery, at: number): readonly RunRow[] {
  return readAll(buildRunList(filter, at)).map(showRun)
}

export function buildRunList(filter: RunQuery, at: number): CompiledQuery<StoredRun> {
  const { procedure, statuses, tag, parent, failedUndo, before, limit } = filter
  // The index of tags stores the runs of a tag in the order of the list.
  const key = sql.ref<number>(tag === null ? 'runs.run' : 'run_tags.run')
  return queries
    .selectFrom('runs')
    .innerJoin('run_info', 'run_info.run', 'runs.run')
    .select(runColumns)
    .$if(procedure !== null, (query) => query.where('procedure', '=', procedure as string))
    .$if(statuses.length > 0, (query) =>
      query.where((where) =>
        where.or(statuses.map((one) => hasStatus(where, one, at, statuses.length === 1))),
      ),
    )
    .$if(tag !== null, (query) =>
      query.innerJoin('run_tags', 'run_tags.run', 'runs.run').where('run_tags.tag', '=', tag as string),
    )
    .$if(parent !== null, (query) => query.where('run_info.parent', '=', parent as string))
    .$if(failedUndo, (query) => query.where('runs.run', 'in', runsWithFailedUndo()))
    .$if(before !== null, (query) => query.where(key, '<', before as number))
    .orderBy(key, 'desc')
    .limit(limit)
    .compile()
}

/** Repeats the condition of the index of failed undos. */
function runsWithFailedUndo() {
  return queries
    .selectFrom('notices')
    .innerJoin('runs as r', 'r.run', 'notices.run')
    .select('notices.run')
    .where('notices.kind', '=', sql.lit(noticeKindCode.numberOf['failed-undo']))
    .whereRef('notices.seq', '>=', 'r.base')
}

/** @param isAlone whether no other status is requested. With several, the list is scanned from its newest, without sorting. */
function hasStatus(where: Where, status: RunStatus, at: number, isAlone: boolean): Expression<SqlBool> {
  const isLive = where('state', '=', stateCode.numberOf.live)
  const isUnmarked = where('mark', '=', markCode.numberOf.none)
  switch (status) {
    case 'running':
      return where.and([isLive, isUnmarked, isActive(where, at)])
    case 'waiting':
      return where.and([
        isLive,
        isUnmarked,
        where('worker', 'is', null),
        where.or([where('wake_at', 'is', null), where('wake_at', '>', at)]),
      ])
    case 'stuck':
    case 'quarantined':
      // Repeats the condition of the index of marked runs.
      return where.and([isLive, where('mark', '<>', 0), where('mark', '=', markCode.numberOf[status])])
    case 'failed':
    case 'cancelled': {
      const isEnded = where('state', '=', stateCode.numberOf[status])
      // Repeats the condition of the index of failed and cancelled runs.
      return isAlone ? where.and([where('state', '>', stateCode.numberOf.completed), isEnded]) : isEnded
    }
    default:
      return where('state', '=', stateCode.numberOf[status])
  }
}

/** Matches owned or due runs through the indexes of both, because most live runs wait and would be scanned. */
function isActive(where: Where, at: number): Expression<SqlBool> {
  return where(
    'runs.run',
    'in',
    queries
      .selectFrom('runs')
      .select('run')
      .where('worker', 'is not', null)
      .unionAll(
        queries
          .selectFrom('runs')
          .select('run')
          .where('worker', 'is', null)
          .where('wake_at', 'is not', null)
          .where('wake_at', '<=', at),
      ),
  )
}
