import { eventTypeCode, type NewEvent, operationKindCode, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

/** Writes one event; `seq` and `epoch` are those of the run. */
export type InsertEvent = (
  run: RunKey,
  seq: number,
  at: number,
  epoch: number,
  event: NewEvent,
  link: Uint8Array | null,
) => void

export function prepareInsertEvent(database: Database): InsertEvent {
  const insert = database.prepare(
    `insert into events (run, seq, at, epoch, type, position, turn, kind, nth, failed, took_ms, name, payload, link)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (run, seq, at, epoch, event, link) => {
    const { type, position, turn, kind, nth, failed, tookMs, name, payload } = event
    insert.run(
      run,
      seq,
      at,
      epoch,
      eventTypeCode.numberOf[type],
      position,
      turn,
      kind === null ? null : operationKindCode.numberOf[kind],
      nth,
      failed ? 1 : 0,
      tookMs,
      name,
      payload,
      link,
    )
  }
}
