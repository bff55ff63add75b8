import type { NewGeneration, RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { readNames } from '../reads/names.ts'
import type { CheckpointWrites } from './checkpoints.ts'
import { prepareInsertEvent } from './event.ts'

/** Begins a new generation of a run that has ended. False: it is live, or its log has another head. */
export type Restart = (generation: NewGeneration, at: number) => boolean

export function prepareRestart(database: Database, checkpoints: CheckpointWrites): Restart {
  const restart = database
    .prepare<[number, number, number, Uint8Array, number | null, RunKey, number], number>(
      `update runs set state = 0, mark = 0, tries = 0, worker = null, wake_at = ?, epoch = epoch + 1, head = ?, base = ?,
         link = ?, version = ?, cancel_at = null
       where run = ? and head = ? and state <> 0 returning epoch`,
    )
    .pluck()
  const dropMail = database.prepare(
    'update messages set used = 1, payload = null, key = null where run = ? and (used = 0 or key is not null or payload is not null)',
  )
  const describe = database.prepare(
    'update run_info set ended_at = null, started_by = ?, tags = ?, parent = null, parent_position = null, info = ? where run = ?',
  )
  const removeStates = database.prepare('delete from run_state where run = ?')
  const readTags = database.prepare<[RunKey], string>('select tags from run_info where run = ?').pluck()
  const removeTag = database.prepare('delete from run_tags where tag = ? and run = ?')
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertEvent = prepareInsertEvent(database)
  return ({ run, head, version, started, link, tags, startedBy, info }, at) => {
    const epoch = restart.get(at, head + 1, head, link, version, run, head)
    if (epoch === undefined) return false
    insertEvent(run, head, at, epoch, started, null)
    dropMail.run(run)
    removeStates.run(run)
    checkpoints.removeOf(run)
    for (const tag of readNames(readTags.get(run) ?? '') ?? []) removeTag.run(tag, run)
    describe.run(startedBy, JSON.stringify(tags), info, run)
    for (const tag of tags) insertTag.run(tag, run)
    return true
  }
}
