import {
  hiddenState,
  type KeptPast,
  messageKindCode,
  type NewGeneration,
  type RunKey,
  staleKinds,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { readNames } from '../reads/names.ts'
import type { CheckpointWrites } from './checkpoints.ts'
import { prepareInsertEvent } from './event.ts'
import { infoColumns, messageColumns } from './rows.ts'

/** Begins new generations of runs that have ended. False: one is live or removed, or its log has another head. */
export type Restart = (generations: readonly NewGeneration[], at: number) => boolean

export function prepareRestart(database: Database, checkpoints: CheckpointWrites): Restart {
  const isEnded = database
    .prepare<[RunKey, number], number>(
      `select 1 from runs where run = ? and head = ? and state not in (${stateCode.numberOf.live}, ${hiddenState})`,
    )
    .pluck()
  const begin = prepareBegin(database, checkpoints)
  return (generations, at) => {
    if (generations.some(({ run, head }) => isEnded.get(run, head) === undefined)) return false
    for (const generation of generations) begin(generation, at)
    return true
  }
}

function prepareBegin(
  database: Database,
  checkpoints: CheckpointWrites,
): (generation: NewGeneration, at: number) => void {
  const restart = database
    .prepare<[number, number, number, Uint8Array, number | null, number | null, RunKey], number>(
      `update runs set state = ${stateCode.numberOf.live}, mark = 0, tries = 0, worker = null, wake_at = ?, epoch = epoch + 1,
         head = ?, base = ?, link = ?, version = ?, cancel_at = ?
       where run = ? returning epoch`,
    )
    .pluck()
  const readBase = database.prepare<[RunKey], number>('select base from runs where run = ?').pluck()
  const dropMail = database.prepare(
    'update messages set used = 1, payload = null, key = null where run = ? and (used = 0 or key is not null or payload is not null)',
  )
  const describe = database.prepare(
    `update run_info set ended_at = null, info = ?, ${infoColumns.assigned} where run = ?`,
  )
  const leaveParent = database.prepare(
    'update run_info set parent = null, parent_position = null where run = ?',
  )
  const removeStates = database.prepare('delete from run_state where run = ? and (at > ? or seq > ?)')
  const readTags = database.prepare<[RunKey], string>('select tags from run_info where run = ?').pluck()
  const removeTag = database.prepare('delete from run_tags where tag = ? and run = ?')
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertEvent = prepareInsertEvent(database)
  const keepMail = prepareKeepMail(database)
  return ({ run, head, version, started, link, tags, startedBy, info, kept }, at) => {
    const events = kept?.events ?? []
    const cancelAt = kept?.cancelAt ?? null
    const base = readBase.get(run) as number
    const epoch = restart.get(at, head + 1 + events.length, head, link, version, cancelAt, run) as number
    insertEvent(run, head, kept?.startedAt ?? at, epoch, started, null)
    for (const event of events) insertEvent(run, event.seq, event.at, epoch, event, event.link)
    if (kept === null) {
      dropMail.run(run)
      leaveParent.run(run)
      checkpoints.removeOf(run)
    } else {
      keepMail(run, kept, at)
      checkpoints.keepOf(run, kept.checkpoints)
    }
    removeStates.run(run, kept?.exposedUntil ?? -1, base)
    for (const tag of readNames(readTags.get(run) ?? '') ?? []) removeTag.run(tag, run)
    describe.run(info, ...infoColumns.valuesOf({ startedBy, tags }), run)
    for (const tag of tags) insertTag.run(tag, run)
  }
}

function prepareKeepMail(database: Database): (run: RunKey, kept: KeptPast, at: number) => void {
  const stale = staleKinds.map((kind) => messageKindCode.numberOf[kind]).join(', ')
  const dropStale = database.prepare(
    `update messages set used = 1, payload = null, key = null
     where run = ? and kind in (${stale}) and (used = 0 or key is not null or payload is not null)`,
  )
  const count = database
    .prepare<[RunKey], number>('update runs set mail = mail + 1 where run = ? returning mail')
    .pluck()
  const send = database.prepare(
    `insert into messages (run, n, used, ${messageColumns.names}) values (?, ?, 0, ${messageColumns.places})`,
  )
  return (run, { signals }, at) => {
    dropStale.run(run)
    for (const signal of signals) {
      const message = { ...signal, at, kind: 'signal', key: null } as const
      send.run(run, count.get(run) ?? 0, ...messageColumns.valuesOf(message))
    }
  }
}
