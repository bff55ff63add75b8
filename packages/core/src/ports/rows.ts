import type { askStatuses } from '../base/words.ts'
import { isUnread, RowCorrupt, WrittenLater } from '../events/codec.ts'
import type { AskRow } from './store/asks.ts'
import type { CheckpointRow, KeptCheckpoint } from './store/checkpoints.ts'
import type { ExtractedNotice } from './store/copies.ts'
import type { KeptNotice } from './store/notices.ts'
import type { Mark, RunRow, RunState } from './store/runs.ts'

// Stores return rows unchecked; this file validates them for all stores.

/** A run whose row this version understands. */
export type KnownRun = RunRow & {
  readonly state: RunState
  readonly mark: Mark
  readonly tags: readonly string[]
}

/** An ask whose row this version understands; its payload is checked separately. */
export type KnownAsk = AskRow & {
  readonly status: (typeof askStatuses)[number]
  readonly to: readonly string[]
  readonly escalateTo: readonly string[]
}

/** @throws RowCorrupt, WrittenLater */
export function readRun(row: RunRow): KnownRun {
  const { state, mark, run, head, base, mail, version, createdAt, endedAt, cancelAt, wakeAt, tags, parent } =
    row
  checkWord('state', state)
  checkWord('mark', mark)
  checkNumbers({ run, head, base, mail, version, wakeAt, parent: parent && parent.position })
  checkTimes({ createdAt, endedAt, cancelAt })
  if (tags === null) throw new RowCorrupt('its tags are not a list of names')
  return row as KnownRun
}

/** @throws RowCorrupt, WrittenLater */
export function readAsk(row: AskRow): KnownAsk {
  const { status, runKey, position, urgency, openedAt, dueAt, closesAt, closedAt, to, escalateTo } = row
  checkWord('status', status)
  checkNumbers({ run: runKey, position, urgency })
  checkTimes({ openedAt, dueAt, closesAt, closedAt })
  if (to === null || escalateTo === null) throw new RowCorrupt('its audience is not a list of names')
  return row as KnownAsk
}

/** @throws RowCorrupt */
export function readCheckpoint(row: CheckpointRow): CheckpointRow {
  const { n, runKey } = row
  checkNumbers({ n, run: runKey })
  return readKeptCheckpoint(row)
}

/** @throws RowCorrupt */
export function readKeptCheckpoint<Row extends KeptCheckpoint>(row: Row): Row {
  const { slot, position, seq, at } = row
  checkNumbers({ slot, position, seq })
  checkTimes({ at })
  return row
}

/** @throws RowCorrupt, WrittenLater */
export function readNotice<Row extends ExtractedNotice>(row: Row): Row & KeptNotice {
  const { position, seq, at, kind, severity, to } = row
  checkWord('kind', kind)
  checkWord('severity', severity)
  checkNumbers({ position: position + 1, seq })
  checkTimes({ at })
  if (to === null) throw new RowCorrupt('its audience is not a list of names')
  return row as Row & KeptNotice
}

/** Returns whether a cursor can represent the ask's position in a list. */
export function isPlaced(row: AskRow): boolean {
  const { runKey, position } = row
  const { urgency, openedAt, dueAt } = row.place ?? row
  return [runKey, position, urgency, openedAt, dueAt ?? 0].every((number) => Number.isSafeInteger(number))
}

/**
 * Calls `read`, which depends on stored data only, and reports any error as damaged data.
 * @throws PayloadCorrupt, RowCorrupt, WrittenLater, LogDamaged
 */
export function understand<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (isUnread(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new RowCorrupt(`it does not have the form that Pawl writes (${why})`, { cause: error })
  }
}

function checkWord(column: string, word: string | number): void {
  if (typeof word === 'number') throw new WrittenLater(`its ${column}, stored as ${word},`)
}

function checkNumbers(columns: { readonly [column: string]: number | null }): void {
  for (const [column, number] of Object.entries(columns))
    if (number !== null && !Number.isSafeInteger(number))
      throw new RowCorrupt(`its ${column} is ${number}, which is impossible`)
}

/** The latest time that a `Date` can hold, in ms. */
const latestTime = 8.64e15

function checkTimes(columns: { readonly [column: string]: number | null }): void {
  for (const [column, time] of Object.entries(columns))
    if (time !== null && !(Math.abs(time) <= latestTime))
      throw new RowCorrupt(`its ${column} is ${time}, which is not a time`)
}
