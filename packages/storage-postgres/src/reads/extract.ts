import {
  type ExtractedNotice,
  type KeptCheckpoint,
  type KeptMessage,
  messageKindCode,
  noticeKindCode,
  type RunExtract,
  type StateRow,
  severityCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { givenKey } from '../token.ts'
import { type StoredAsk, showAsk } from './asks.ts'
import { runColumns, type StoredRun, showRun } from './runs.ts'

export type Extract = (id: string) => Promise<RunExtract | null>

/** Reads a run in one statement, so that all of it is of one instant. Its lists come as JSON, with bytes as hex digits. */
export function prepareExtract(database: Database): Extract {
  const { runs, runInfo, messages, asks, runState, checkpoints, notices } = database.names
  const bytes = (column: string): string => `encode(${column}, 'hex')`
  const list = (rows: string, from: string, order: string): string =>
    `(select coalesce(json_agg(json_build_array(${rows}) order by ${order}), '[]')::text from ${from} where run = r.run)`
  const text = `
    select ${runColumns.join(', ')},
      ${list(`n, at, kind, used, name, key, sent_by, ${bytes('payload')}`, messages, 'n')} as messages,
      ${list(
        `position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key, audience, escalate_to, answered_by,
        ${bytes('payload')}, ${bytes('answer')}`,
        asks,
        'position',
      )} as asks,
      ${list(`name, at, ${bytes('payload')}`, runState, 'name collate "C"')} as states,
      ${list(`slot, position, seq, at, name, ${bytes('payload')}`, checkpoints, 'n')} as checkpoints,
      ${list(`position, digest, seq, at, kind, severity, audience, ${bytes('payload')}`, notices, 'n')} as notices
    from ${runs} r join ${runInfo} f on f.run = r.run where r.id = $1`
  return async (id) => {
    const [row] = await database.read<ExtractRow>(text, [id])
    if (row === undefined) return null
    const shown = showRun(row)
    const saved = JSON.parse(row.checkpoints) as readonly CheckpointTuple[]
    return {
      row: shown,
      messages: (JSON.parse(row.messages) as readonly MessageRow[]).map(showMessage),
      asks: (JSON.parse(row.asks) as readonly AskRow[]).map((ask) => showAsk(nameColumns(row, ask))),
      states: (JSON.parse(row.states) as readonly StateTuple[]).map(showState),
      checkpoints: shown.state === 'completed' ? [] : saved.map(showCheckpoint),
      notices: (JSON.parse(row.notices) as readonly NoticeTuple[]).map(showNotice),
    }
  }
}

type ExtractRow = StoredRun & {
  readonly [list in 'messages' | 'asks' | 'states' | 'checkpoints' | 'notices']: string
}

type MessageRow = readonly [
  n: number,
  at: number,
  kind: number,
  used: boolean,
  name: string,
  key: string | null,
  by: string | null,
  payload: string | null,
]

type StateTuple = readonly [name: string, at: number, payload: string | null]

type CheckpointTuple = readonly [
  slot: number,
  position: number,
  seq: number | null,
  at: number,
  name: string | null,
  payload: string | null,
]

type NoticeTuple = readonly [
  position: number,
  digest: number,
  seq: number,
  at: number,
  kind: number,
  severity: number,
  to: string[],
  payload: string,
]

type AskRow = readonly [
  position: number,
  status: number,
  urgency: number,
  openedAt: number,
  dueAt: number | null,
  closesAt: number | null,
  closedAt: number | null,
  kind: string,
  key: string | null,
  audience: string[],
  escalateTo: string[],
  answeredBy: string | null,
  payload: string,
  answer: string | null,
]

function showMessage([n, at, kind, used, name, key, by, payload]: MessageRow): KeptMessage {
  return {
    n,
    at,
    kind: messageKindCode.wordOf(kind),
    used,
    name,
    key: givenKey(key),
    by,
    payload: readBytes(payload),
  }
}

function showState([name, at, payload]: StateTuple): StateRow {
  return { name, at, payload: readBytes(payload) }
}

function showCheckpoint([slot, position, seq, at, name, payload]: CheckpointTuple): KeptCheckpoint {
  return { slot, position, seq, at, name, payload: readBytes(payload) }
}

function showNotice([position, digest, seq, at, kind, severity, to, payload]: NoticeTuple): ExtractedNotice {
  return {
    ...{ position, digest, seq, at, to, payload: readBytes(payload) ?? new Uint8Array(0) },
    ...{ kind: noticeKindCode.wordIfKnown(kind), severity: severityCode.wordIfKnown(severity) },
  }
}

function nameColumns({ run, id, procedure, started_by }: ExtractRow, ask: AskRow): StoredAsk {
  const [position, status, urgency, opened_at, due_at, closes_at, closed_at, kind, key] = ask
  const [audience, escalate_to, answered_by, payload, answer] = ask.slice(9) as [
    string[],
    string[],
    string | null,
    string,
    string | null,
  ]
  return {
    ...{ run, id, procedure, started_by, position, status, urgency, opened_at, due_at, closes_at, closed_at },
    ...{ kind, key, audience, escalate_to, answered_by, answer: readBytes(answer) },
    payload: readHex(payload),
  }
}

function readBytes(digits: string | null): Uint8Array | null {
  return digits === null ? null : readHex(digits)
}

/** As the other reads return bytes. */
function readHex(digits: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(digits, 'hex')
  return new Uint8Array(buffer, byteOffset, length)
}
