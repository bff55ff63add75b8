import { markCode, type RunQuery, type RunRow, stateCode } from '@pawl/core/storage'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/statement.ts'
import { listTexts } from '../connection/values.ts'
import { storeTime } from '../schema/names.ts'
import { queries, type Schema } from '../schema/tables.ts'
import { gather } from './gather.ts'

export interface RunList {
  find(id: string): Promise<RunRow | null>
  runs(filter: RunQuery): Promise<readonly RunRow[]>
}

export function prepareRunList(database: Database): RunList {
  const select = () =>
    queries
      .withSchema(database.names.schema)
      .selectFrom('runs')
      .innerJoin('run_info', 'run_info.run', 'runs.run')
      .select([
        'runs.run',
        'runs.id',
        'runs.procedure',
        'runs.version',
        'runs.state',
        'runs.mark',
        'runs.worker',
      ])
      .select(['runs.wake_at', 'runs.head', 'runs.mail', 'runs.created_at'])
      .select([
        'run_info.ended_at',
        'run_info.tags',
        'run_info.started_by',
        'run_info.info',
        'run_info.reason',
      ])

  const { sql: text } = select()
    .where(sql<SqlBool>`runs.id = any(${sql.raw('$1')}::text[])`)
    .compile()
  const findAll = new Statement(text)

  return {
    find: gather({
      async find(ids) {
        const rows = await database.repeat(() => database.run<StoredRun>(findAll, [listTexts(ids)]))
        for (const { run } of rows) database.plans.noteRun(run)
        return rows.map(showRun)
      },
      nameOf: (id) => id,
      keyOf: ({ id }) => id,
    }),
    async runs({ procedure, statuses, tag, before, limit }) {
      let query = select().orderBy('runs.run', 'desc').limit(limit)
      // The columns of run_info have the indexes for lists.
      if (procedure !== null) query = query.where('run_info.procedure', '=', procedure)
      if (tag !== null)
        query = query.where(sql<SqlBool>`run_info.tags <> '{}' and run_info.tags @> array[${tag}]::text[]`)
      if (before !== null) query = query.where('runs.run', '<', before)
      if (statuses.length > 0) query = query.where(sql<SqlBool>`(${sql.join(statuses.map(isOf), sql` or `)})`)
      return (await database.list(query.compile())).map(showRun)
    },
  }
}

type Status = RunQuery['statuses'][number]

const isLive = sql<SqlBool>`run_info.ended_at is null and runs.state = ${sql.lit(stateCode.numberOf.live)}`
const isUnmarked = sql<SqlBool>`runs.mark = ${sql.lit(markCode.numberOf.none)}`
const isActive = sql<SqlBool>`(runs.worker is not null or coalesce(runs.wake_at <= (select ${sql.raw(storeTime)}), false))`

// Numbers stand in the text, not beside it: by a value that is not known yet no partial index can be chosen.
function isOf(status: Status): RawBuilder<SqlBool> {
  switch (status) {
    case 'running':
      return sql`(${isLive} and ${isUnmarked} and ${isActive})`
    case 'waiting':
      return sql`(${isLive} and ${isUnmarked} and not ${isActive})`
    case 'stuck':
    case 'quarantined':
      return sql`(${isLive} and runs.mark = ${sql.lit(markCode.numberOf[status])})`
    default:
      return sql`runs.state = ${sql.lit(stateCode.numberOf[status])}`
  }
}

type StoredRun = Omit<Schema['runs'], 'epoch' | 'tries' | 'link'> & Omit<Schema['run_info'], 'run'>

function showRun(row: StoredRun): RunRow {
  const { run, id, procedure, version, head, mail, tags, info } = row
  const mark = markCode.wordOf(row.mark)
  return {
    run,
    id,
    procedure,
    version,
    state: stateCode.wordOf(row.state),
    mark,
    reason: mark === 'none' ? null : row.reason,
    owned: row.worker !== null,
    wakeAt: row.wake_at,
    head,
    mail,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    tags,
    startedBy: row.started_by,
    info,
  }
}
