import { rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { createEngine, procedure } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './support/bundle.ts'
import { type Acknowledged, acknowledgeNothing, check } from './support/kill/check.ts'
import { type Effect, noteEffect, readEffects } from './support/kill/effects.ts'
import type { EventRow, Rows } from './support/kill/place.ts'

// What the tests that kill workers say is worth as much as their checker finds: one damage each, made by hand.

const [started, settled, ended] = [0, 3, 6]
const output = { n: 1, by: 'user:ana', cents: 101, winner: 'step', sum: 7 }

/** As a worker writes it. */
let payload: Uint8Array | null
beforeAll(async () => {
  const store = memory()
  const order = procedure({ name: 'order' }, async () => output)
  const engine = await createEngine({ store, procedures: [order] })
  await (await engine.run(order, undefined, { id: 'order 1' })).result()
  await engine.stop()
  const port = connectTo(store) as StorePort
  await port.open()
  const row = await port.runs.find('order 1')
  payload = (await port.log.load(row?.run ?? 0, 0, 10)).at(-1)?.payload ?? null
  await port.close()
})

/** What two workers left behind, the second of which took over at event 2, and repeated an effect. */
interface Remains {
  rows: Rows
  effects: Effect[]
  acknowledged: Acknowledged
}

function newEvent(seq: number, overrides: Partial<EventRow>): EventRow {
  return {
    run: 1,
    seq,
    at: 1000 + 100 * seq,
    epoch: seq < 2 ? 1 : 2,
    type: settled,
    position: -1,
    kind: null,
    name: '',
    payload: null,
    ...overrides,
  }
}

function makeSound(): Remains {
  return {
    rows: {
      runs: [{ run: 1, id: 'order 1', state: 1, mark: 0, head: 5 }],
      events: [
        newEvent(0, { type: started }),
        newEvent(1, { position: 0, name: 'a' }),
        newEvent(2, { position: 2, name: 'ccc' }),
        newEvent(3, { position: 1, name: 'bb' }),
        newEvent(4, { type: ended, payload }),
      ],
      asks: [],
      changes: [
        { run: 1, epoch: 1, head: 1 },
        { run: 1, epoch: 2, head: 2 },
      ],
      damage: [],
    },
    effects: [
      { run: 'order 1', step: 'a', key: 'key a', pid: 10, processAt: 900 },
      { run: 'order 1', step: 'bb', key: 'key bb', pid: 10, processAt: 900 },
      { run: 'order 1', step: 'bb', key: 'key bb', pid: 11, processAt: 1150 },
      { run: 'order 1', step: 'ccc', key: 'key ccc', pid: 11, processAt: 1150 },
    ],
    acknowledged: {
      ...acknowledgeNothing(),
      runs: new Set(['order 1']),
      answers: new Map([['order 1', 'user:ana']]),
      signals: new Map([['order 1', 101]]),
    },
  }
}

async function makeLedger(): Promise<string> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'ledger.ndjson')
}

async function look({ rows, effects, acknowledged }: Remains) {
  const ledger = await makeLedger()
  for (const effect of effects) noteEffect(ledger, effect)
  return check(rows, ledger, acknowledged)
}

test('nothing is wrong with a run that changed hands, and a repeated effect is counted', async () => {
  expect(await look(makeSound())).toEqual({
    problems: [],
    stale: 0,
    events: 5,
    changes: 2,
    effects: 3,
    repeats: [{ run: 'order 1', step: 'bb', pids: [10, 11] }],
  })
})

const changeEvent = (remains: Remains, seq: number, overrides: Partial<EventRow>): void => {
  const events = remains.rows.events.map((event) => (event.seq === seq ? { ...event, ...overrides } : event))
  remains.rows = { ...remains.rows, events }
}
const changeRun = (remains: Remains, overrides: Partial<Rows['runs'][number]>): void => {
  remains.rows = { ...remains.rows, runs: remains.rows.runs.map((run) => ({ ...run, ...overrides })) }
}
const changeEffect = (remains: Remains, index: number, overrides: Partial<Effect>): void => {
  remains.effects = remains.effects.map((effect, at) => (at === index ? { ...effect, ...overrides } : effect))
}

const damages: readonly (readonly [what: string, damage: (remains: Remains) => void, problems: string[]])[] =
  [
    [
      'an event of a former owner',
      (remains) => changeEvent(remains, 3, { epoch: 1 }),
      ['run order 1: event 3 was written by a former owner'],
    ],
    [
      'an event that is missing in the middle',
      (remains) => {
        changeEvent(remains, 3, { seq: 9 })
      },
      ['run order 1: a gap at event 3'],
    ],
    [
      'an event that is missing at the end',
      (remains) => changeRun(remains, { head: 6 }),
      ['run order 1: its head is 6, and it has 5 events'],
    ],
    [
      'a run that is lost',
      ({ acknowledged }) => acknowledged.runs.add('order 2'),
      ['run order 2 was acknowledged and is lost'],
    ],
    [
      'a second result of an operation',
      (remains) => changeEvent(remains, 2, { position: 1, name: 'bb' }),
      ['run order 1: two results of one operation'],
    ],
    [
      'an acknowledged answer that did not count',
      ({ acknowledged }) => acknowledged.answers.set('order 1', 'user:bob'),
      ['run order 1: the answer of user:bob was acknowledged, that of user:ana counted'],
    ],
    [
      'an acknowledged signal that did not count',
      ({ acknowledged }) => acknowledged.signals.set('order 1', 99),
      ['run order 1: 99 was acknowledged, 101 received'],
    ],
    [
      'a step that is recorded and was never done',
      (remains) => {
        remains.effects = remains.effects.filter(({ step }) => step !== 'ccc')
      },
      ['run order 1: step ccc is recorded and never had its effect'],
    ],
    [
      'a step that was done again by a worker that began after its record',
      (remains) => {
        const [first] = remains.effects as [Effect]
        remains.effects = [...remains.effects, { ...first, pid: 11, processAt: 1150 }]
      },
      ['run order 1: step a was done again after it had been recorded'],
    ],
    [
      'two idempotency keys of one step',
      (remains) => changeEffect(remains, 2, { key: 'another key' }),
      ['run order 1: step bb had several idempotency keys'],
    ],
    [
      'one idempotency key of two steps',
      (remains) => changeEffect(remains, 0, { key: 'key ccc' }),
      ['run order 1: two steps share an idempotency key'],
    ],
    [
      'a run that did not come to its end',
      (remains) => changeRun(remains, { state: 0 }),
      ['run order 1: it is not completed (state 0, mark 0)'],
    ],
    [
      'a run that was put aside',
      (remains) => changeRun(remains, { mark: 1 }),
      ['run order 1: it is not completed (state 1, mark 1)'],
    ],
    [
      'an end in the middle of a log',
      (remains) => changeEvent(remains, 1, { type: ended, payload }),
      ['run order 1: it does not end once'],
    ],
    [
      'an end with something behind it',
      (remains) => {
        changeEvent(remains, 3, { type: ended, payload })
        changeEvent(remains, 4, { type: settled, position: 3 })
      },
      ['run order 1: it does not end once'],
    ],
    [
      'what the database says of itself',
      (remains) => {
        remains.rows = { ...remains.rows, damage: ['page 7 is never used'] }
      },
      ['the database is damaged: page 7 is never used'],
    ],
  ]

test.for(damages)('found: %s', async ([, damage, problems]) => {
  const remains = makeSound()
  damage(remains)
  expect((await look(remains)).problems).toEqual(problems)
})

test('an effect whose line a kill cut off is not counted, and hides none', async () => {
  const ledger = await makeLedger()
  const [first, cut, last] = makeSound().effects as [Effect, Effect, Effect]
  for (let missing = 1; missing < JSON.stringify(cut).length; missing++) {
    await rm(ledger, { force: true })
    for (const effect of [first, cut]) noteEffect(ledger, effect)
    await truncate(ledger, (await stat(ledger)).size - missing)
    noteEffect(ledger, last)
    expect(readEffects(ledger)).toEqual([first, last])
  }
})
