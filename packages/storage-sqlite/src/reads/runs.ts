import { markCode, type QuarantineCause, type RunRow, stateCode } from '@pawl/core/storage'
import type { Selection } from 'kysely'
import type { Database } from '../connection/database.ts'
import type { Schema } from '../schema/tables.ts'
import { readNames } from './names.ts'

export type ReadRun = (id: string) => RunRow | null

/** Columns that `showRun` reads. */
export const runColumns = [
  'runs.run',
  'runs.id',
  'runs.procedure',
  'runs.version',
  'runs.state',
  'runs.mark',
  'runs.worker',
  'runs.wake_at',
  'runs.head',
  'runs.base',
  'runs.link',
  'runs.mail',
  'runs.tries',
  'runs.created_at',
  'runs.cancel_at',
  'run_info.reason',
  'run_info.cause',
  'run_info.ended_at',
  'run_info.tags',
  'run_info.started_by',
  'run_info.parent',
  'run_info.parent_position',
  'run_info.info',
] as const

export type StoredRun = Selection<Schema, 'runs' | 'run_info', (typeof runColumns)[number]>

export function prepareReadRun(database: Database): ReadRun {
  const find = database.prepare<[string], StoredRun>(
    `select ${runColumns.join(', ')} from runs join run_info on run_info.run = runs.run where id = ?`,
  )
  return (id) => {
    const row = find.get(id)
    return row === undefined ? null : showRun(row)
  }
}

export function showRun(row: StoredRun): RunRow {
  const { run, id, procedure, version, info } = row
  return {
    run,
    id,
    procedure,
    version,
    state: stateCode.wordIfKnown(row.state),
    mark: markCode.wordIfKnown(row.mark),
    reason: row.mark === 0 ? null : row.reason,
    cause: row.mark === 0 ? null : (row.cause as QuarantineCause | null),
    tries: row.tries,
    owned: row.worker !== null,
    wakeAt: row.wake_at,
    head: row.head,
    base: row.base,
    link: row.link,
    mail: row.mail,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    cancelAt: row.cancel_at,
    tags: readNames(row.tags),
    startedBy: row.started_by,
    parent: row.parent === null ? null : { run: row.parent, position: row.parent_position },
    info,
  }
}
