import {
  type AskRow,
  askStatusCode,
  type Message,
  markCode,
  messageKindCode,
  type RunKey,
  type RunRow,
  stateCode,
  type WorkerKey,
} from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import { checkInteger } from '../connection/integers.ts'
import type { Schema } from '../schema/tables.ts'
import { prepareReadLog, type ReadLog } from './log.ts'

export interface Reads {
  readonly readLog: ReadLog
  readMail(run: RunKey, after: number): readonly Message[]
  readMailOf(worker: WorkerKey): readonly { readonly run: RunKey; readonly mail: number }[]
  readRun(id: string): RunRow | null
  readAsk(run: string, position: number): AskRow | null
  readAskByKey(run: string, key: string): AskRow | null
}

/** Written out once: the lists select the same columns. */
export const runColumns = `runs.run, runs.id, procedure, version, state, mark, reason, worker, wake_at, head, mail,
  created_at, ended_at, tags, started_by, info`
export const askColumns = `asks.run, runs.id, runs.procedure, run_info.started_by, asks.position, asks.status,
  asks.urgency, asks.opened_at, asks.due_at, asks.closes_at, asks.closed_at, asks.kind, asks.key, asks.audience,
  asks.escalate_to, asks.answered_by, asks.payload, asks.answer`

export function prepareReads(database: Database): Reads {
  const mail = database.prepare<[RunKey, number], MessageRow>(
    'select n, at, kind, name, payload from messages where run = ? and n > ? and used = 0 order by n',
  )
  const mailOf = database.prepare<[WorkerKey], { run: RunKey; mail: number }>(
    'select run, mail from runs where worker = ?',
  )
  const run = database.prepare<[string], StoredRun>(
    `select ${runColumns} from runs join run_info on run_info.run = runs.run where id = ?`,
  )
  const askTables = 'asks join runs on runs.run = asks.run join run_info on run_info.run = asks.run'
  const ask = database.prepare<[string, number], StoredAsk>(
    `select ${askColumns} from ${askTables} where runs.id = ? and asks.position = ?`,
  )
  const askByKey = database.prepare<[string, string], StoredAsk>(
    `select ${askColumns} from ${askTables} where runs.id = ? and asks.key = ?`,
  )
  return {
    readLog: prepareReadLog(database),
    readMail: (key, after) =>
      mail
        .all(key, after)
        .map((row) => ({ ...row, n: checkInteger(row.n), kind: messageKindCode.wordOf(row.kind) })),
    readMailOf: (worker) => mailOf.all(worker),
    readRun: (id) => showOne(run.get(id), showRun),
    readAsk: (id, position) => showOne(ask.get(id, position), showAsk),
    readAskByKey: (id, key) => showOne(askByKey.get(id, key), showAsk),
  }
}

function showOne<Row, Shown>(row: Row | undefined, show: (row: Row) => Shown): Shown | null {
  return row === undefined ? null : show(row)
}

export function showRun(row: StoredRun): RunRow {
  const { run, id, procedure, version, info } = row
  return {
    run: checkInteger(run),
    id,
    procedure,
    version,
    state: stateCode.wordOf(row.state),
    mark: markCode.wordOf(row.mark),
    reason: row.mark === 0 ? null : row.reason,
    owned: row.worker !== null,
    wakeAt: row.wake_at,
    head: checkInteger(row.head),
    mail: checkInteger(row.mail),
    createdAt: checkInteger(row.created_at),
    endedAt: row.ended_at,
    tags: JSON.parse(row.tags) as string[],
    startedBy: row.started_by,
    info,
  }
}

export function showAsk(row: StoredAsk): AskRow {
  const { position, urgency, kind, key, payload, answer } = row
  return {
    run: row.id,
    runKey: checkInteger(row.run),
    procedure: row.procedure,
    startedBy: row.started_by,
    position,
    status: askStatusCode.wordOf(row.status),
    kind,
    key,
    urgency,
    to: JSON.parse(row.audience) as string[],
    escalateTo: JSON.parse(row.escalate_to) as string[],
    openedAt: checkInteger(row.opened_at),
    dueAt: row.due_at,
    closesAt: row.closes_at,
    closedAt: row.closed_at,
    payload,
    answeredBy: row.answered_by,
    answer,
  }
}

interface MessageRow {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly name: string
  readonly payload: Uint8Array | null
}
/** What `runColumns` and `askColumns` select. */
export type StoredRun = Omit<Schema['runs'], 'epoch' | 'tries' | 'link'> & Omit<Schema['run_info'], 'run'>
export type StoredAsk = Schema['asks'] &
  Pick<Schema['runs'], 'id' | 'procedure'> &
  Pick<Schema['run_info'], 'started_by'>
