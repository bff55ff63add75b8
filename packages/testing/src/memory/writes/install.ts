import type { Installed, KeptAsk, LastPart, LogEvent, RunCopy } from '@pawl/core/storage'
import { tell } from '../feed.ts'
import { putNotice } from '../notices.ts'
import { type AskRecord, copy, type RunRecord, type Tables } from '../tables.ts'
import { putCheckpoint } from './checkpoints.ts'
import { keepRun, makeRecord } from './create.ts'

export function installRun(
  tables: Tables,
  given: RunCopy,
  seq: number,
  events: readonly LogEvent[],
  last: LastPart | null,
  at: number,
): Installed {
  const { token } = given
  if (seq === 0 && !tables.copies.has(token)) tables.copies.set(token, makeRecord(tables, given, at))
  const run = tables.copies.get(token)
  if (!run) return { outcome: 'lost' }
  if (run.events.length === 0) run.dropped = seq
  run.events.splice(seq - run.dropped, run.events.length, ...events.map(copyEvent))
  run.epoch = Math.max(run.epoch, events.at(-1)?.epoch ?? 0)
  if (last === null) return { outcome: 'installed', run: run.run, at }
  if (tables.runs.has(given.id)) return { outcome: 'exists' }
  finish(tables, run, last, at)
  tables.copies.delete(token)
  return { outcome: 'installed', run: run.run, at }
}

function finish(tables: Tables, run: RunRecord, last: LastPart, at: number): void {
  const { state, base, createdAt, endedAt, cancelAt, parent, info, messages, asks } = last
  Object.assign(run, { ...keepRun(last), state, base, endedAt, cancelAt, parent })
  Object.assign(run, { createdAt: createdAt ?? at, info: copy(info) })
  for (const { used, ...message } of messages)
    run.messages.push({ ...message, payload: copy(message.payload), isUsed: used })
  run.mail = run.messages.at(-1)?.n ?? 0
  run.wakeAt = state === 'live' ? at : null
  tables.runs.set(run.id, run)
  tables.runsByKey.set(run.run, run)
  for (const ask of asks) addAsk(tables, run, ask, at)
  for (const { name, at: shownAt, payload } of last.states)
    run.states.set(name, { name, at: shownAt, seq: null, payload: copy(payload) })
  for (const kept of last.checkpoints) putCheckpoint(tables, run, kept, kept.seq, kept.at)
  for (const kept of last.notices) putNotice(tables, run, kept, kept.seq, kept.at)
}

function addAsk(tables: Tables, run: RunRecord, ask: KeptAsk, at: number): void {
  const record: AskRecord = { ...ask, run, payload: copy(ask.payload), answer: copy(ask.answer) }
  run.asks.set(ask.position, record)
  if (ask.key !== null) run.asksByKey.set(ask.key, record)
  tables.asks.push(record)
  if (ask.status === 'open') tell(tables, 'ask-opened', run, ask.position, at)
}

function copyEvent(event: LogEvent): LogEvent {
  return { ...event, payload: copy(event.payload), link: copy(event.link) }
}
