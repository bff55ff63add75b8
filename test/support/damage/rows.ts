import type { Store } from '@pawl/core'
import { encodePayload } from '@pawl/core/internal'
import type { StoredValue } from './place.ts'

/** The tables of what people look at. */
export type ViewTable = 'asks' | 'runs' | 'run_info'

/** A database whose rows of asks and runs a test damages behind the store's back. */
export interface RowPlace {
  makeStore(): Store
  write(table: ViewTable, run: string, column: string, value: StoredValue): Promise<void>
}

export interface RowChange {
  readonly table: ViewTable
  readonly column: string
  readonly value: StoredValue
}

const garbled = Uint8Array.of(0x93, 1, 2)
const ofLater = Uint8Array.of(0xc1, 1)
const ofNoAsk = encodePayload(7, 'payload')
const approval = { kind: 'approve', message: 'Delete?', silence: { do: 'keep-waiting' } }
const encode = (changes: object): Uint8Array => encodePayload({ ...approval, ...changes }, 'payload')
/** As milliseconds beyond every date, and beyond what a number of JavaScript can tell apart. */
const noTimes = [9_000_000_000_000_000, 2n ** 60n + 1n]

const change = (table: ViewTable, column: string, ...values: readonly StoredValue[]): RowChange[] =>
  values.map((value) => ({ table, column, value }))

/** After each of these an open ask cannot be read. */
export const unreadableAsks: readonly RowChange[] = [
  ...change('asks', 'payload', garbled, ofLater, ofNoAsk, new Uint8Array(0)),
  ...change(
    'asks',
    'payload',
    encode({ kind: 'ponder' }),
    encode({ kind: 'toString' }),
    encode({ message: 7 }),
  ),
  ...change('asks', 'payload', encode({ silence: { do: 'wonder' } }), encode({ silence: null })),
  ...change('asks', 'payload', encode({ choices: 7 }), encode({ choices: [null] }), encode({ error: 7 })),
  ...change('asks', 'opened_at', ...noTimes),
  ...change('asks', 'due_at', ...noTimes),
  ...change('asks', 'closes_at', ...noTimes),
  ...change('asks', 'closed_at', ...noTimes),
]

/** Of SQLite alone, whose lists of names are text. */
export const unreadableNames: readonly RowChange[] = [
  ...change('asks', 'audience', '["user:ana"', '{"user:ana":1}', '["user:ana",1]', ''),
  ...change('asks', 'escalate_to', '[', 'null'),
  ...change('run_info', 'tags', '[', '{}', '[1]'),
]

/** After each of these a run cannot be read. */
export const unreadableRuns: readonly RowChange[] = [
  ...change('runs', 'state', 99),
  ...change('runs', 'mark', 99),
  ...change('runs', 'created_at', ...noTimes),
  ...change(
    'run_info',
    'info',
    garbled,
    ofLater,
    ofNoAsk,
    encodePayload(null, 'info'),
    encodePayload({}, 'info'),
  ),
  ...change('run_info', 'ended_at', ...noTimes),
]
