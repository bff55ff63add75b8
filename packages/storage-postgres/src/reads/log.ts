import type { LogEvent, Message, RunKey } from '@pawl/core/storage'
import { eventTypeCode, messageKindCode, operationKindCode } from '../codes.ts'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/statement.ts'

export interface Log {
  load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]>
  mail(run: RunKey, after: number): Promise<readonly Message[]>
}

/** Rows of one answer: more would only hold more memory at once. */
const pageSize = 5_000

export function prepareLog(database: Database): Log {
  const { events, messages } = database.names
  // Planned for its values each time: a plan made while the table was small would read all of it.
  const load = `
    select seq, at, epoch, type, position, turn, kind, name, nth, failed, took_ms, payload, nullif(link, '')
    from ${events} where run = $1 and seq >= $2 order by seq limit $3`
  const mail = new Statement(
    `select n, at, kind, name, payload from ${messages} where run = $1 and n > $2 and not used order by n`,
  )
  return {
    async load(run, seq, limit) {
      const log: LogEvent[] = []
      while (log.length < limit) {
        const size = Math.min(pageSize, limit - log.length)
        const rows = await database.read<EventRow>(load, [run, seq + log.length, size], true)
        for (const row of rows) log.push(showEvent(row))
        if (rows.length < size) break
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
  payload: Uint8Array | null,
  link: Uint8Array | null,
]
interface MessageRow {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly name: string
  readonly payload: Uint8Array | null
}

function showEvent(row: EventRow): LogEvent {
  const [seq, at, epoch, type, position, turn, kind, name, nth, failed, tookMs, payload, link] = row
  return {
    seq,
    at,
    epoch,
    type: eventTypeCode.wordOf(type),
    position,
    turn,
    kind: kind === null ? null : operationKindCode.wordOf(kind),
    name,
    nth,
    failed,
    tookMs,
    payload,
    link,
  }
}
