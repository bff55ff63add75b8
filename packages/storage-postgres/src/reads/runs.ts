import { markCode, type QuarantineCause, type RunRow, stateCode } from '@pawl/core/storage'
import type { Selection } from 'kysely'
import type { Database } from '../connection/database.ts'
import { listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Schema } from '../schema/tables.ts'
import { batchLookups } from './batch-lookups.ts'

export type FindRun = (id: string) => Promise<RunRow | null>

/** The columns that `showRun` reads. */
export const runColumns = [
  'r.run',
  'r.id',
  'r.procedure',
  'r.version',
  'r.state',
  'r.mark',
  'r.worker',
  'r.wake_at',
  'r.head',
  'r.base',
  'r.link',
  'r.mail',
  'r.tries',
  'r.created_at',
  'r.cancel_at',
  'f.ended_at',
  'f.tags',
  'f.started_by',
  'f.parent',
  'f.parent_position',
  'f.info',
  'f.reason',
  'f.cause',
] as const

export function prepareFindRun(database: Database): FindRun {
  const { runs, runInfo } = database.names
  const statement = new Statement(`
    select ${runColumns.join(', ')} from ${runs} r join ${runInfo} f on f.run = r.run where r.id = any($1::text[])`)
  return batchLookups({
    async find(ids) {
      const rows = await database.repeat(() => database.run<StoredRun>(statement, [listTexts(ids)]))
      for (const { run } of rows) database.plans.noteRun(run)
      return rows.map(showRun)
    },
    nameOf: (id) => id,
    keyOf: ({ id }) => id,
  })
}

/** Table aliases that the columns use. */
interface Tables {
  r: Schema['runs']
  f: Schema['run_info']
}

export type StoredRun = Selection<Tables, keyof Tables, (typeof runColumns)[number]>

export function showRun(row: StoredRun): RunRow {
  const { run, id, procedure, version, head, base, link, mail, tags, info } = row
  const mark = markCode.wordIfKnown(row.mark)
  return {
    run,
    id,
    procedure,
    version,
    state: stateCode.wordIfKnown(row.state),
    mark,
    reason: mark === 'none' ? null : row.reason,
    cause: mark === 'none' ? null : (row.cause as QuarantineCause | null),
    tries: row.tries,
    owned: row.worker !== null,
    wakeAt: row.wake_at,
    head,
    base,
    link,
    mail,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    cancelAt: row.cancel_at,
    tags,
    startedBy: row.started_by,
    parent: row.parent === null ? null : { run: row.parent, position: row.parent_position },
    info,
  }
}
