import {
  askStatusCode,
  hiddenState,
  hideId,
  type Installed,
  type KeptAsk,
  type LastPart,
  type LogEvent,
  messageKindCode,
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
    'insert into run_info (run, ended_at, started_by, tags, parent, parent_position, info) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertMessage = database.prepare(
    'insert into messages (run, n, at, kind, used, name, key, payload) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const insertAsk = database.prepare(
    `insert into asks (run, position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key, audience,
       escalate_to, answered_by, payload, answer)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  const insertState = database.prepare('insert into run_state (run, name, at, payload) values (?, ?, ?, ?)')

  function addAsk(run: RunKey, ask: KeptAsk, at: number): void {
    const { position, urgency, openedAt, dueAt, closesAt, closedAt, kind, key, payload, answer } = ask
    const audiences = [JSON.stringify(ask.to), JSON.stringify(ask.escalateTo)]
    const status = askStatusCode.numberOf[ask.status]
    const times = [openedAt, dueAt, closesAt, closedAt]
    insertAsk.run(
      ...[run, position, status, urgency, ...times, kind, key],
      ...[...audiences, ask.answeredBy, payload, answer],
    )
    if (ask.status !== 'open') return
    names.add(run, { ...ask, answered: null }, openedAt)
    feed.tell('ask-opened', run, position, at)
  }

  return (run, id, last, at) => {
    const { state, link, createdAt, endedAt, cancelAt, tags, startedBy, parent, info, messages, asks } = last
    const wakeAt = state === 'live' ? at : null
    const mail = messages.at(-1)?.n ?? 0
    show.run(id, stateCode.numberOf[state], last.base, link, createdAt ?? at, cancelAt, mail, wakeAt, run)
    const origin = [parent?.run ?? null, parent?.position ?? null]
    insertInfo.run(run, endedAt, startedBy, JSON.stringify(tags), ...origin, info)
    for (const tag of tags) insertTag.run(tag, run)
    for (const { n, at: sentAt, kind, used, name, key, payload } of messages)
      insertMessage.run(run, n, sentAt, messageKindCode.numberOf[kind], used ? 1 : 0, name, key, payload)
    for (const ask of asks) addAsk(run, ask, at)
    for (const { name, at: shownAt, payload } of last.states) insertState.run(run, name, shownAt, payload)
    for (const kept of last.checkpoints) checkpoints.write(run, kept, kept.at, kept.seq)
    for (const kept of last.notices) notices().install(run, kept)
  }
}
