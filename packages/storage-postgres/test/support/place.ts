import type { AskStatus, Mark, Message, RunState, Store } from '@pawl/core/storage'
import type { Dump, Place, StoreSubject } from '@pawl/testing/conformance'
import type pg from 'pg'
import type { TestDatabase } from '../../../../test/support/postgres-database.ts'
import {
  askStatusCode,
  eventTypeCode,
  markCode,
  messageKindCode,
  operationKindCode,
  stateCode,
} from '../../src/codes.ts'

/** A subject whose places are one database, emptied after each test: they follow one another. */
export function makeSubject(
  name: string,
  database: () => TestDatabase,
  store: () => Store,
  schema = 'pawl',
): StoreSubject {
  return {
    name,
    make(): Place {
      const { owner } = database()
      return {
        store: store(),
        dump: () => dump(owner, schema),
        remove: () => empty(owner, schema),
      }
    },
  }
}

/** Deletes all rows: faster than a new database, and no test can see the difference. */
export async function empty(owner: pg.Pool, schema: string): Promise<void> {
  const tables = ['workers', 'runs', 'run_info', 'events', 'messages', 'asks']
  await owner.query(tables.map((table) => `delete from ${schema}.${table}`).join(';'))
}

/** Everything that is kept, read with statements of our own. */
export async function dump(owner: pg.Pool, schema: string): Promise<Dump> {
  const read = async <Row>(text: string) => (await owner.query(text)).rows as Row[]
  const [runs, events, messages, asks] = [
    await read<RunDump>(
      `select r.*, i.info from ${schema}.runs r join ${schema}.run_info i using (run) order by run`,
    ),
    await read<EventDump>(`select * from ${schema}.events order by run, seq`),
    await read<MessageDump>(`select * from ${schema}.messages order by run, n`),
    await read<AskDump>(`select * from ${schema}.asks order by run, position`),
  ]
  return {
    runs: runs.map((row) => ({
      ...row,
      run: Number(row.run),
      state: stateCode.wordOf(row.state) as RunState,
      mark: markCode.wordOf(row.mark) as Mark,
      worker: row.worker === null ? null : Number(row.worker),
      wakeAt: row.wake_at === null ? null : Number(row.wake_at),
      link: new Uint8Array(row.link),
    })),
    events: events.map((row) => ({
      ...row,
      run: Number(row.run),
      at: Number(row.at),
      type: eventTypeCode.wordOf(row.type),
      kind: row.kind === null ? null : operationKindCode.wordOf(row.kind),
      tookMs: row.took_ms === null ? null : Number(row.took_ms),
    })),
    messages: messages.map((row) => ({
      ...row,
      run: Number(row.run),
      kind: messageKindCode.wordOf(row.kind) as Message['kind'],
      // One that the store made for a message without a key.
      key: row.key?.startsWith('~') ? null : row.key,
    })),
    asks: asks.map((row) => ({
      ...row,
      run: Number(row.run),
      status: askStatusCode.wordOf(row.status) as AskStatus,
      answeredBy: row.answered_by,
    })),
  }
}

interface RunDump {
  readonly run: string
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly state: number
  readonly mark: number
  readonly worker: string | null
  readonly wake_at: string | null
  readonly epoch: number
  readonly head: number
  readonly mail: number
  readonly tries: number
  readonly link: Uint8Array
  readonly info: Uint8Array | null
}
interface EventDump {
  readonly run: string
  readonly seq: number
  readonly at: string
  readonly epoch: number
  readonly type: number
  readonly position: number
  readonly turn: number
  readonly kind: number | null
  readonly name: string
  readonly nth: number
  readonly failed: boolean
  readonly took_ms: string | null
  readonly payload: Uint8Array | null
  readonly link: Uint8Array | null
}
interface MessageDump {
  readonly run: string
  readonly n: number
  readonly kind: number
  readonly name: string
  readonly key: string | null
  readonly used: boolean
  readonly payload: Uint8Array | null
}
interface AskDump {
  readonly run: string
  readonly position: number
  readonly status: number
  readonly kind: string
  readonly key: string | null
  readonly answered_by: string | null
  readonly payload: Uint8Array
  readonly answer: Uint8Array | null
}
