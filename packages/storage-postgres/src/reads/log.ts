import {
  eventTypeCode,
  type LogEvent,
  type Message,
  messageKindCode,
  operationKindCode,
  type RunKey,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/statement.ts'
import { checkInteger, listNumbers } from '../connection/values.ts'

export interface Log {
  load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]>
  mail(run: RunKey, after: number): Promise<readonly Message[]>
}

/** Rows of one answer: more would only hold more memory at once. */
const pageSize = 5_000
/** In bytes. Longer payloads are read by themselves, so that none of them keeps a whole page in memory. */
const longestPacked = 256

// What PostgreSQL makes one value of comes over in one: a page as JSON, and all its short payloads in one run of
// hex digits. The driver takes a row apart value by value, and is as long at that as all of a replay takes.
// `concat_ws` leaves nulls out, and writes every number as JSON does.
const packedRow = `'[' || concat_ws(',', seq, at, epoch, type, position, turn, coalesce(kind::text, 'null'), to_json(name), nth,
  failed::text, coalesce(took_ms::text, 'null'), coalesce(length(payload)::text, 'null'),
  to_json(encode(link, 'hex'))) || ']'`
const shortPayload = `case when length(payload) <= ${longestPacked} then encode(payload, 'hex') end`

export function prepareLog(database: Database): Log {
  const { events, messages } = database.names
  // Planned for its values each time: a plan made while the table was small would read all of it.
  const load = `
    select '[' || string_agg(${packedRow}, ',' order by seq) || ']', string_agg(${shortPayload}, '' order by seq)
    from (select * from ${events} where run = $1 and seq >= $2 order by seq limit $3) as page`
  const loadLong = `select seq, payload from ${events} where run = $1 and seq = any($2::int[])`
  const mail = new Statement(
    `select n, at, kind, name, payload from ${messages} where run = $1 and n > $2 and not used order by n`,
  )

  async function loadPage(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]> {
    const [page] = await database.read<Page>(load, [run, seq, limit], true)
    const rows = JSON.parse(page?.[0] ?? '[]') as readonly EventRow[]
    const payloads = Buffer.from(page?.[1] ?? '', 'hex')
    const long = await loadLongPayloads(run, rows)
    let used = 0

    function takePayload(row: EventRow): Uint8Array | null {
      const size = row[11]
      if (size === null) return null
      if (size > longestPacked) return long.get(row[0]) ?? null
      used += size
      return new Uint8Array(payloads.buffer, payloads.byteOffset + used - size, size)
    }

    return rows.map((row) => showEvent(row, takePayload(row)))
  }

  async function loadLongPayloads(
    run: RunKey,
    rows: readonly EventRow[],
  ): Promise<ReadonlyMap<number, Uint8Array>> {
    const seqs = rows.filter((row) => (row[11] ?? 0) > longestPacked).map((row) => row[0])
    if (seqs.length === 0) return new Map()
    const found = await database.read<LongPayload>(loadLong, [run, listNumbers(seqs)])
    return new Map(found.map(({ seq, payload }) => [seq, payload]))
  }

  return {
    async load(run, seq, limit) {
      const log: LogEvent[] = []
      while (log.length < limit) {
        const size = Math.min(pageSize, limit - log.length)
        const page = await loadPage(run, seq + log.length, size)
        log.push(...page)
        if (page.length < size) break
      }
      return log
    },
    async mail(run, after) {
      const rows = await database.repeat(() => database.run<MessageRow>(mail, [run, after]))
      return rows.map(({ n, at, kind, name, payload }) => ({
        n,
        at,
        kind: messageKindCode.wordOf(kind),
        name,
        payload,
      }))
    },
  }
}

type Page = readonly [rows: string | null, payloads: string | null]
type EventRow = readonly [
  seq: number,
  at: number,
  epoch: number,
  type: number,
  position: number,
  turn: number,
  kind: number | null,
  name: string,
  nth: number,
  failed: boolean,
  tookMs: number | null,
  /** Of the payload, in bytes. */
  size: number | null,
  /** In hex digits; empty for none. */
  link: string,
]
interface LongPayload {
  readonly seq: number
  readonly payload: Uint8Array
}
interface MessageRow {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly name: string
  readonly payload: Uint8Array | null
}

// By their places: taken apart as `[seq, at, …]` each row would go through an iterator, which a cold start feels.
function showEvent(row: EventRow, payload: Uint8Array | null): LogEvent {
  const kind = row[6]
  const link = row[12]
  const tookMs = row[10]
  return {
    seq: row[0],
    at: checkInteger(row[1]),
    epoch: row[2],
    type: eventTypeCode.wordOf(row[3]),
    position: row[4],
    turn: row[5],
    kind: kind === null ? null : operationKindCode.wordOf(kind),
    name: row[7],
    nth: row[8],
    failed: row[9],
    tookMs: tookMs === null ? null : checkInteger(tookMs),
    payload,
    link: link === '' ? null : Buffer.from(link, 'hex'),
  }
}
