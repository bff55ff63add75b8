import type { Ask } from '@pawl/core'
import { expect, test } from 'vitest'
import type { Entry } from '../src/demo/entry.ts'
import type { Evidence } from '../src/demo/evidence.ts'
import { judge } from '../src/demo/verdict.ts'

const ask = { id: 'run/2', askedAt: new Date(0) } as Ask
const first = { order: 'A-1', card: 'visa', amount: 10, key: 'k1' }
const second = { order: 'A-2', card: 'visa', amount: 300, key: 'k2' }
const entry = (position: number, type: string, name: string): Entry => ({
  ...{ position, type, name, status: 'done' as const, result: {} },
  ...{ timestamp: new Date(0).toISOString(), duration_ms: 1 },
})
const entries = [
  entry(0, 'step', 'read the order book'),
  entry(1, 'step', 'refund A-1'),
  entry(2, 'hitl_approval', 'approve'),
  entry(3, 'step', 'refund A-2'),
]

const good: Evidence = {
  book: {
    orders: [
      { id: 'A-1', card: 'visa', amount: 10, reason: '' },
      { id: 'A-2', card: 'visa', amount: 480, reason: '' },
    ],
    bad: [],
  },
  log: { procedure_id: 'run', execution_log: entries, generation: 1, replay_index: 4 },
  payments: [first, second],
  diary: ['read the order book', 'refund A-1', 'refund A-2'].map((ran, index) => ({ ran, pid: index })),
  asks: [ask],
  askBefore: ask,
  consent: { order: 'A-2', amount: 300 },
  kills: [
    { code: null, signal: 'SIGKILL' },
    { code: null, signal: 'SIGKILL' },
  ],
}

function faultsOf(evidence: Evidence): readonly string[] {
  return judge(evidence).flatMap(({ faults }) => faults)
}

test('what went well has no faults', () => {
  expect(faultsOf(good)).toEqual([])
})

test.each<[string, Partial<Evidence>, string]>([
  ['a payment made twice', { payments: [first, first, second] }, 'A-1 was paid 2 times'],
  ['a key used twice', { payments: [first, { ...second, key: 'k1' }] }, '1 idempotency keys were used again'],
  ['a payment not made', { payments: [second] }, 'A-1 was paid 0 times'],
  [
    'another amount than agreed',
    { payments: [first, { ...second, amount: 480 }] },
    'A-2 was paid 480 EUR in place of 300 EUR',
  ],
  ['a payment without consent', { consent: undefined }, 'A-2 was paid, and should not be'],
  [
    'a body that ran twice',
    { diary: [...good.diary, { ran: 'refund A-1', pid: 9 }] },
    '"refund A-1" is recorded 1 times and ran 2 times',
  ],
  [
    'a body that was not recorded',
    { diary: [...good.diary, { ran: 'refund A-9', pid: 9 }] },
    '"refund A-9" is recorded 0 times and ran 1 times',
  ],
  [
    'a record without a run',
    { diary: good.diary.slice(1) },
    '"read the order book" is recorded 1 times and ran 0 times',
  ],
  [
    'a second question',
    { asks: [ask, { ...ask, id: 'run/3' }] },
    '1 questions are recorded, 2 are in the inbox',
  ],
  [
    'another question',
    { asks: [{ ...ask, askedAt: new Date(1) }] },
    'it is not the question that was asked before the kill',
  ],
  [
    'a gap in the log',
    { log: { ...good.log, execution_log: [...entries.slice(0, 1), ...entries.slice(2)], replay_index: 3 } },
    'nothing is recorded before position 2',
  ],
  [
    'an operation without a result',
    { log: { ...good.log, replay_index: 3 } },
    '3 of 4 entries have a result',
  ],
  [
    'a worker that was not killed',
    { kills: [{ code: 0, signal: null }, ...good.kills.slice(1)] },
    'a worker ended with exit code 0',
  ],
  ['one kill only', { kills: good.kills.slice(1) }, 'there were 1 kills'],
])('%s is found', (_, change, fault) => {
  expect(faultsOf({ ...good, ...change })).toContain(fault)
})
