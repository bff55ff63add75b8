import { eventTypeCode, operationKindCode, type RunKey, type StoredEvent } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'

export type ReadLog = (run: RunKey, seq: number, limit: number) => readonly StoredEvent[]

/** In bytes. Longer payloads are read by themselves, so that none of them keeps a whole page in memory. */
const maxPackedBytes = 256

/**
 * Reads events in the order of the log. What SQLite makes one value of comes over in one: a page as JSON, and
 * all its short payloads in one run of hex digits. Value by value it would take twice as long.
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
    const rows = JSON.parse(text) as readonly Row[]
    const payloads = Buffer.from(digits ?? '', 'hex')
    let used = 0

    function takePayload(row: Row): Uint8Array | null {
      const size = row[11]
      if (size === null) return null
      if (size > maxPackedBytes) return long.get(run, row[0]) ?? null
      used += size
      return payloads.subarray(used - size, used)
    }

    return rows.map((row) => showEvent(row, takePayload(row)))
  }
}

type Row = readonly [
  seq: number,
  at: number,
  epoch: number,
  type: number,
  position: number,
  turn: number,
  kind: number | null,
  nth: number,
  failed: number,
  tookMs: number | null,
  name: string,
  /** Of the payload, in bytes. */
  size: number | null,
  /** In hex digits. */
  link: string | null,
]

// By their places: taken apart as `[seq, at, …]` each row would go through an iterator, which a cold start feels.
function showEvent(row: Row, payload: Uint8Array | null): StoredEvent {
  const kind = row[6]
  const link = row[12]
  return {
    seq: row[0],
    at: row[1],
    epoch: row[2],
    type: eventTypeCode.wordIfKnown(row[3]),
    position: row[4],
    turn: row[5],
    kind: kind === null ? null : operationKindCode.wordIfKnown(kind),
    nth: row[7],
    failed: row[8] === 1,
    tookMs: row[9],
    name: row[10],
    payload,
    link: link === null ? null : Buffer.from(link, 'hex'),
  }
}
