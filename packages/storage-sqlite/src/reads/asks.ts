import { type AskRow, askStatusCode, type RunKey } from '@pawl/core/storage'
import type { Selection } from 'kysely'
import type { Database } from '../connection/database.ts'
import type { Schema } from '../schema/tables.ts'
import { readNames } from './names.ts'

export interface AskReads {
  readAsk(run: string, position: number): AskRow | null
  readAskOf(run: RunKey, position: number): AskRow | null
  readAskByKey(run: string, key: string): AskRow | null
}

/** Columns that `showAsk` reads. */
export const askColumns = [
  'asks.run',
  'runs.id',
  'runs.procedure',
  'run_info.started_by',
  'asks.position',
  'asks.status',
  'asks.urgency',
  'asks.opened_at',
  'asks.due_at',
  'asks.closes_at',
  'asks.closed_at',
  'asks.kind',
  'asks.key',
  'asks.audience',
  'asks.escalate_to',
  'asks.answered_by',
  'asks.payload',
  'asks.answer',
] as const

export type StoredAsk = Selection<Schema, 'asks' | 'runs' | 'run_info', (typeof askColumns)[number]>

export function prepareAskReads(database: Database): AskReads {
  const tables = 'asks join runs on runs.run = asks.run join run_info on run_info.run = asks.run'
  const select = `select ${askColumns.join(', ')} from ${tables}`
  const byPosition = database.prepare<[string, number], StoredAsk>(
    `${select} where runs.id = ? and asks.position = ?`,
  )
  const byRunKey = database.prepare<[number, number], StoredAsk>(
    `${select} where asks.run = ? and asks.position = ?`,
  )
  const byKey = database.prepare<[string, string], StoredAsk>(`${select} where runs.id = ? and asks.key = ?`)
  const showOne = (row: StoredAsk | undefined) => (row === undefined ? null : showAsk(row))
  return {
    readAsk: (run, position) => showOne(byPosition.get(run, position)),
    readAskOf: (run, position) => showOne(byRunKey.get(run, position)),
    readAskByKey: (run, key) => showOne(byKey.get(run, key)),
  }
}

export function showAsk(row: StoredAsk): AskRow {
  const { position, urgency, kind, key, payload, answer } = row
  return {
    run: row.id,
    runKey: row.run,
    procedure: row.procedure,
    startedBy: row.started_by,
    position,
    status: askStatusCode.wordIfKnown(row.status),
    kind,
    key,
    urgency,
    to: readNames(row.audience),
    escalateTo: readNames(row.escalate_to),
    openedAt: row.opened_at,
    dueAt: row.due_at,
    closesAt: row.closes_at,
    closedAt: row.closed_at,
    payload,
    answeredBy: row.answered_by,
    answer,
  }
}
