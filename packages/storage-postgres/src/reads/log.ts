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
import { gather, split } from './gather.ts'

export interface Log {
  load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]>
  mail(run: RunKey, after: number): Promise<readonly Message[]>
}

/** Rows of one answer: more would only hold more memory at once. */
const mostRows = 5_000
/** In bytes. Longer payloads are read by themselves, so that none of them keeps a whole page in memory. */
const longestPacked = 256
/** In bytes: of longer payloads in one answer. */
const mostLong = 4 * 1024 * 1024

// What PostgreSQL makes one value of comes over in one: a page as JSON, and all its short payloads in one run of
// hex digits. The driver takes a row apart value by value, and is as long at that as all of a replay takes.
// `concat_ws` leaves nulls out, and writes every number as JSON does.
const packedRow = `'[' || concat_ws(',', seq, at, epoch, type, position, turn, coalesce(kind::text, 'null'), to_json(name), nth,
  failed::text, coalesce(took_ms::text, 'null'), coalesce(length(payload)::text, 'null'),
  to_json(encode(link, 'hex'))) || ']'`
const packedRows = `'[' || string_agg(${packedRow}, ',' order by seq) || ']' as rows`
const shortPayload = `case when length(payload) <= ${longestPacked} then encode(payload, 'hex') end`
const shortPayloads = `string_agg(${shortPayload}, '' order by seq) as payloads`

export function prepareLog(database: Database): Log {
  const { events, messages } = database.names
  // Planned for their values each time: a plan made while the table was small would read all of it.
  const loadOne = `
    select 0 as place, ${packedRows}, ${shortPayloads}
    from (select * from ${events} where run = $1 and seq >= $2 order by seq limit $3) as page`
  const loadMany = `
    select place::int, ${packedRows}, ${shortPayloads}
    from unnest($1::bigint[], $2::int[], $3::int[]) with ordinality as wanted(run, start, size, place)
    cross join lateral (
      select * from ${events} e where e.run = wanted.run and e.seq >= wanted.start order by e.seq limit wanted.size) as page
    group by place`
  const loadLong = `
    select place::int, payload from unnest($1::bigint[], $2::int[]) with ordinality as wanted(run, seq, place)
    join ${events} e on e.run = wanted.run and e.seq = wanted.seq`
  const unread = new Statement(`
    select m.run, after, n, at, kind, name, payload from unnest($1::bigint[], $2::int[]) as wanted(run, after)
    join ${messages} m on m.run = wanted.run and n > after where not used order by m.run, n`)

  async function readPages(wanted: readonly Part[]): Promise<readonly Page[]> {
    const [first] = wanted as readonly [Part]
    const runs = listNumbers(wanted.map(({ run }) => run))
    const starts = listNumbers(wanted.map(({ seq }) => seq))
    const sizes = listNumbers(wanted.map(({ limit }) => limit))
    const found =
      wanted.length === 1
        ? await database.read<PackedPage>(loadOne, [first.run, first.seq, first.limit])
        : await database.read<PackedPage>(loadMany, [runs, starts, sizes])
    const pages = found.map((page) => ({
      part: wanted[page.place === 0 ? 0 : page.place - 1] as Part,
      rows: JSON.parse(page.rows ?? '[]') as readonly EventRow[],
      payloads: Buffer.from(page.payloads ?? '', 'hex'),
    }))
    const takeLong = await readLong(pages)
    return pages.map(({ part, rows, payloads }) => {
      let used = 0

      function takePayload(row: EventRow): Uint8Array | null {
        const size = row[11]
        if (size === null) return null
        if (size > longestPacked) return takeLong()
        used += size
        return new Uint8Array(payloads.buffer, payloads.byteOffset + used - size, size)
      }

      return { ...part, events: rows.map((row) => showEvent(row, takePayload(row))) }
    })
  }

  /** The long payloads of all pages. They are taken in the order of the rows that have them. */
  async function readLong(
    pages: readonly { readonly part: Part; readonly rows: readonly EventRow[] }[],
  ): Promise<() => Uint8Array | null> {
    const wanted = pages.flatMap(({ part: { run }, rows }) =>
      rows.flatMap((row) => ((row[11] ?? 0) > longestPacked ? { run, seq: row[0], size: row[11] ?? 0 } : [])),
    )
    const payloads: (Uint8Array | undefined)[] = []
    for (const part of split(wanted, ({ size }) => size, mostLong)) {
      const before = payloads.length
      payloads.length += part.length
      const found = await database.read<LongPayload>(loadLong, [
        listNumbers(part.map(({ run }) => run)),
        listNumbers(part.map(({ seq }) => seq)),
      ])
      for (const { place, payload } of found) payloads[before + place - 1] = payload
    }
    let next = 0
    return () => payloads[next++] ?? null
  }

  const loadPart = gather<Part, Page>({
    find: readPages,
    nameOf: ({ run, seq, limit }) => `${run} ${seq} ${limit}`,
    keyOf: (page) => page,
    weightOf: ({ limit }) => limit,
    most: mostRows,
  })

  const readMail = gather<Unread, Mail>({
    async find(wanted) {
      const values = [
        listNumbers(wanted.map(({ run }) => run)),
        listNumbers(wanted.map(({ after }) => after)),
      ]
      const rows = await database.repeat(() => database.run<MessageRow>(unread, values))
      const mails = new Map<string, Mail & { readonly messages: Message[] }>()
      for (const { run, after, n, at, kind, name, payload } of rows) {
        const mail = mails.get(`${run} ${after}`) ?? { run, after, messages: [] }
        mails.set(`${run} ${after}`, mail)
        mail.messages.push({ n, at, kind: messageKindCode.wordOf(kind), name, payload })
      }
      return [...mails.values()]
    },
    nameOf: ({ run, after }) => `${run} ${after}`,
    keyOf: (mail) => mail,
  })

  return {
    async load(run, seq, limit) {
      const log: LogEvent[] = []
      while (log.length < limit) {
        const size = Math.min(mostRows, limit - log.length)
        const page = await loadPart({ run, seq: seq + log.length, limit: size })
        log.push(...(page?.events ?? []))
        if ((page?.events.length ?? 0) < size) break
      }
      return log
    },
    mail: async (run, after) => (await readMail({ run, after }))?.messages ?? [],
  }
}

/** A part of a log, and what was there. */
interface Part {
  readonly run: RunKey
  readonly seq: number
  readonly limit: number
}
interface Page extends Part {
  readonly events: readonly LogEvent[]
}
/** The messages of a run behind the number `after`. */
interface Unread {
  readonly run: RunKey
  readonly after: number
}
interface Mail extends Unread {
  readonly messages: readonly Message[]
}

interface PackedPage {
  /** Among those that were asked for, counted from one; zero for the only one. */
  readonly place: number
  readonly rows: string | null
  readonly payloads: string | null
}
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
  /** Among those that were asked for, counted from one. */
  readonly place: number
  readonly payload: Uint8Array
}
interface MessageRow extends Unread {
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
