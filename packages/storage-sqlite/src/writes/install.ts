import {
  hiddenState,
  hideId,
  type Installed,
  type KeptAsk,
  type LastPart,
  type LogEvent,
  type RunCopy,
  type RunKey,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { AskNames } from './ask-names.ts'
import type { CheckpointWrites } from './checkpoints.ts'
import { prepareInsertEvent } from './event.ts'
import type { FeedWrites } from './feed.ts'
import type { NoticeWrites } from './notices.ts'
import { infoColumns, keptAskColumns, keptMessageColumns } from './rows.ts'

export type Install = (
  copy: RunCopy,
  seq: number,
  events: readonly LogEvent[],
  last: LastPart | null,
  at: number,
) => Installed

export function prepareInstall(
  database: Database,
  names: AskNames,
  feed: FeedWrites,
  checkpoints: CheckpointWrites,
  notices: () => NoticeWrites,
): Install {
  const begin = database.prepare(
    `insert into runs (wake_at, worker, epoch, head, mail, state, mark, tries, created_at, version, procedure, id, link)
     values (null, null, 1, 0, 0, ${hiddenState}, 0, 0, ?, ?, ?, ?, x'') on conflict (id) do nothing`,
  )
  const findRun = database.prepare<[string], RunKey>('select run from runs where id = ?').pluck()
  const removeBehind = database.prepare('delete from events where run = ? and seq >= ?')
  const insertEvent = prepareInsertEvent(database)
  const advance = database.prepare('update runs set head = ?, epoch = max(epoch, ?) where run = ?')
  const finish = prepareFinish(database, names, feed, checkpoints, notices)
  return (copy, seq, events, last, at) => {
    const { id, token, procedure, version } = copy
    if (seq === 0) begin.run(at, version, procedure, hideId(token))
    const run = findRun.get(hideId(token))
    if (run === undefined) return { outcome: 'lost' }
    removeBehind.run(run, seq)
    for (const event of events) insertEvent(run, event.seq, event.at, event.epoch, event, event.link)
    advance.run(seq + events.length, events.at(-1)?.epoch ?? 0, run)
    if (last !== null) {
      if (findRun.get(id) !== undefined) return { outcome: 'exists' }
      finish(run, id, last, at)
    }
    return { outcome: 'installed', run, at }
  }
}

function prepareFinish(
  database: Database,
  names: AskNames,
  feed: FeedWrites,
  checkpoints: CheckpointWrites,
  notices: () => NoticeWrites,
): (run: RunKey, id: string, last: LastPart, at: number) => void {
  const show = database.prepare(
    'update runs set id = ?, state = ?, base = ?, link = ?, created_at = ?, cancel_at = ?, mail = ?, wake_at = ? where run = ?',
  )
  const insertInfo = database.prepare(
    `insert into run_info (run, ended_at, parent, parent_position, info, ${infoColumns.names})
     values (?, ?, ?, ?, ?, ${infoColumns.places})`,
  )
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertMessage = database.prepare(
    `insert into messages (run, ${keptMessageColumns.names}) values (?, ${keptMessageColumns.places})`,
  )
  const insertAsk = database.prepare(
    `insert into asks (run, ${keptAskColumns.names}) values (?, ${keptAskColumns.places})`,
  )
  const insertState = database.prepare('insert into run_state (run, name, at, payload) values (?, ?, ?, ?)')

  function addAsk(run: RunKey, ask: KeptAsk, at: number): void {
    insertAsk.run(run, ...keptAskColumns.valuesOf(ask))
    if (ask.status !== 'open') return
    names.add(run, { ...ask, answered: null }, ask.openedAt)
    feed.tell('ask-opened', run, ask.position, at)
  }

  return (run, id, last, at) => {
    const { state, base, link, createdAt, endedAt, cancelAt, tags, parent, info, messages, asks } = last
    const wakeAt = state === 'live' ? at : null
    const mail = messages.at(-1)?.n ?? 0
    show.run(id, stateCode.numberOf[state], base, link, createdAt ?? at, cancelAt, mail, wakeAt, run)
    const origin = [parent?.run ?? null, parent?.position ?? null]
    insertInfo.run(run, endedAt, ...origin, info, ...infoColumns.valuesOf(last))
    for (const tag of tags) insertTag.run(tag, run)
    for (const message of messages) insertMessage.run(run, ...keptMessageColumns.valuesOf(message))
    for (const ask of asks) addAsk(run, ask, at)
    for (const { name, at: shownAt, payload } of last.states) insertState.run(run, name, shownAt, payload)
    for (const kept of last.checkpoints) checkpoints.write(run, kept, kept.at, kept.seq)
    for (const kept of last.notices) notices().install(run, kept)
  }
}
