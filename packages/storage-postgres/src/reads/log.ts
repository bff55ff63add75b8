import { type EventRow, type RunKey, type StoredEvent, showEvent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers } from '../connection/fast-path/lists.ts'
import { batchLookups } from './batch-lookups.ts'
import { maxInlineBytes, prepareLongPayloads } from './long-payloads.ts'

export type ReadLog = (run: RunKey, seq: number, limit: number) => Promise<readonly StoredEvent[]>

/** Maximum rows per response. More would only use more memory at once. */
const maxRows = 5_000

// PostgreSQL combines a page into one JSON value, and its short payloads into one string of hex digits. Parsing rows
// value by value in the driver takes as long as a whole replay. `concat_ws` skips nulls and formats numbers like
// JSON.
const packedRow = `'[' || concat_ws(',', seq, at, epoch, type, position, turn, coalesce(kind::text, 'null'), nth, failed::int,
  coalesce(took_ms::text, 'null'), to_json(name), coalesce(length(payload)::text, 'null'),
  case when link = '' then 'null' else '"' || encode(link, 'hex') || '"' end) || ']'`
const packedRows = `'[' || string_agg(${packedRow}, ',' order by seq) || ']' as rows`
const shortPayload = `case when length(payload) <= ${maxInlineBytes} then encode(payload, 'hex') end`
const shortPayloads = `string_agg(${shortPayload}, '' order by seq) as payloads`

/** Reads logs. Concurrent requests for several runs share one statement. */
export function prepareReadLog(database: Database): ReadLog {
  const { events } = database.names
  const readOne = `
    select 1 as place, ${packedRows}, ${shortPayloads}
    from (select * from ${events} where run = $1 and seq >= $2 order by seq limit $3) as page`
  const readMany = `
    select place::int, ${packedRows}, ${shortPayloads}
    from unnest($1::bigint[], $2::int[], $3::int[]) with ordinality as wanted(run, start, size, place)
    cross join lateral (
      select * from ${events} e where e.run = wanted.run and e.seq >= wanted.start order by e.seq limit wanted.size) as page
    group by place`
  const readLong = prepareLongPayloads(database, events, 'seq')

  const findPart = batchLookups<Part, Page>({
    async find(wanted) {
      const [{ run, seq, limit }] = wanted as readonly [Part]
      const pages =
        wanted.length === 1
          ? await database.read<PackedPage>(readOne, [run, seq, limit])
          : await database.read<PackedPage>(readMany, [
              listBigints(wanted.map((part) => part.run)),
              listIntegers(wanted.map((part) => part.seq)),
              listIntegers(wanted.map((part) => part.limit)),
            ])
      return pages.map(({ place, rows, payloads }) => ({
        ...(wanted[place - 1] as Part),
        rows: JSON.parse(rows ?? '[]') as readonly EventRow[],
        payloads: Buffer.from(payloads ?? '', 'hex'),
      }))
    },
    nameOf: ({ run, seq, limit }) => `${run} ${seq} ${limit}`,
    keyOf: (page) => page,
    weightOf: ({ limit }) => limit,
    max: maxRows,
  })

  async function readPart(part: Part): Promise<readonly StoredEvent[]> {
    const { rows, payloads } = (await findPart(part)) ?? { rows: [], payloads: Buffer.alloc(0) }
    const long = rows.filter(isLong)
    const longPayloads = await Promise.all(
      long.map((row) => readLong({ run: part.run, number: row[0], size: row[11] ?? 0 })),
    )
    let used = 0
    let usedLong = 0

    function takePayload(row: EventRow): Uint8Array | null {
      const size = row[11]
      if (size === null) return null
      if (isLong(row)) return longPayloads[usedLong++] ?? null
      used += size
      return new Uint8Array(payloads.buffer, payloads.byteOffset + used - size, size)
    }

    return rows.map((row) => showEvent(row, takePayload(row), takeLink(row)))
  }

  return async (run, seq, limit) => {
    const log: StoredEvent[] = []
    while (log.length < limit) {
      const size = Math.min(maxRows, limit - log.length)
      const part = await readPart({ run, seq: seq + log.length, limit: size })
      log.push(...part)
      if (part.length < size) break
    }
    return log
  }
}

/** A requested part of a log with its result. */
interface Part {
  readonly run: RunKey
  readonly seq: number
  readonly limit: number
}
interface Page extends Part {
  readonly rows: readonly EventRow[]
  /** The short payloads, concatenated. */
  readonly payloads: Buffer
}

interface PackedPage {
  /** Index among the requested pages, from 1. */
  readonly place: number
  readonly rows: string | null
  readonly payloads: string | null
}

function isLong(row: EventRow): boolean {
  return (row[11] ?? 0) > maxInlineBytes
}

function takeLink(row: EventRow): Uint8Array | null {
  const digits = row[12]
  return digits === null ? null : Buffer.from(digits, 'hex')
}
