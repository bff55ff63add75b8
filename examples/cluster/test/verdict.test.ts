import { expect, test } from 'vitest'
import { type Evidence, judge } from '../src/demo/verdict.ts'

const good: Evidence = {
  orders: [
    { id: 'order:1', article: 'lamp', cents: 900 },
    { id: 'order:2', article: 'atlas', cents: 1200 },
  ],
  payments: [
    { order: 'order:1', cents: 900, key: 'k1', asked: 1 },
    { order: 'order:2', cents: 1200, key: 'k2', asked: 2 },
  ],
  runs: [
    { id: 'order:1', status: 'completed', head: 3 },
    { id: 'order:2', status: 'completed', head: 2 },
  ],
  events: [
    { run: 'order:1', seq: 0, settles: undefined },
    { run: 'order:1', seq: 1, settles: 0 },
    { run: 'order:1', seq: 2, settles: 1 },
    { run: 'order:2', seq: 0, settles: undefined },
    { run: 'order:2', seq: 1, settles: 0 },
  ],
  kills: [{ code: null, signal: 'SIGKILL' }],
}
const [first, second] = good.payments
const [begun, ...rest] = good.events

function faultsOf(evidence: Evidence): readonly string[] {
  return judge(evidence).flatMap(({ faults }) => faults)
}

test('what went well has no faults', () => {
  expect(faultsOf(good)).toEqual([])
})

test.each<[string, Partial<Evidence>, string]>([
  ['a day without kills', { kills: [] }, 'no worker was killed'],
  ['a worker that was not killed', { kills: [{ code: 0, signal: null }] }, 'a worker ended with exit code 0'],
  ['a lost order', { runs: good.runs.slice(1) }, 'order:1 is lost'],
  [
    'an order that failed',
    { runs: [{ id: 'order:1', status: 'failed', head: 3 }, ...good.runs.slice(1)] },
    'order:1 is failed',
  ],
  [
    'an order that does not exist',
    { runs: [...good.runs, { id: 'order:9', status: 'completed', head: 0 }] },
    'order:9 was never ordered',
  ],
  ['a payment not made', { payments: [second!] }, 'order:1 was paid 0 times'],
  [
    'a payment made twice',
    { payments: [first!, { ...first!, key: 'k3' }, second!] },
    'order:1 was paid 2 times',
  ],
  [
    'a payment of another sum',
    { payments: [{ ...first!, cents: 901 }, second!] },
    'order:1 was paid 901 cents in place of 900',
  ],
  [
    'a payment for nothing',
    { payments: [...good.payments, { order: 'order:9', cents: 1, key: 'k9', asked: 1 }] },
    'order:9 was paid and never ordered',
  ],
  ['a missing event', { events: rest }, 'the log of order:1 has a gap'],
  [
    'a second result',
    { events: good.events.map((event) => (event.settles === 1 ? { ...event, settles: 0 } : event)) },
    'order:1 has two results of one operation',
  ],
  ['an event too many', { events: [begun!, ...good.events] }, 'the log of order:1 has a gap'],
])('%s is found', (_, change, fault) => {
  expect(faultsOf({ ...good, ...change })).toContain(fault)
})
