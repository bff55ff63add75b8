import { type EventRow, type RunKey, type StoredEvent, showEvent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type ReadLog = (run: RunKey, seq: number, limit: number) => readonly StoredEvent[]

/** Maximum bytes of a packed payload. Longer ones are read separately, so that none keeps a whole page in memory. */
const maxPackedBytes = 256

/**
 * Reads events in the order of the log. SQLite returns a page as one JSON value, with its short payloads in one string of
 * hex digits. Reading value by value takes twice as long.
 */
export function prepareReadLog(database: Database): ReadLog {
  const packed = database
    .prepare<[RunKey, number, number], [rows: string, payloads: string | null]>(
      `select json_group_array(json_array(seq, at, epoch, type, position, turn, kind, nth, failed, took_ms, name, size,
           iif(link is null, null, hex(link)))),
         group_concat(hex(short), '')
       from (select seq, at, epoch, type, position, turn, kind, nth, failed, took_ms, name, link,
               length(payload) as size, iif(length(payload) <= ${maxPackedBytes}, payload, null) as short
             from events where run = ? and seq >= ? order by seq limit ?) as page`,
    )
    .raw()
  const long = database
    .prepare<[RunKey, number], Uint8Array>('select payload from events where run = ? and seq = ?')
    .pluck()

  return (run, seq, limit) => {
    const [text, digits] = packed.get(run, seq, limit) as [string, string | null]
    const rows = JSON.parse(text) as readonly EventRow[]
    const payloads = Buffer.from(digits ?? '', 'hex')
    let used = 0

    function takePayload(row: EventRow): Uint8Array | null {
      const size = row[11]
      if (size === null) return null
      if (size > maxPackedBytes) return long.get(run, row[0]) ?? null
      used += size
      return payloads.subarray(used - size, used)
    }

    return rows.map((row) => showEvent(row, takePayload(row), takeLink(row)))
  }
}

function takeLink(row: EventRow): Uint8Array | null {
  const digits = row[12]
  return digits === null ? null : Buffer.from(digits, 'hex')
}
