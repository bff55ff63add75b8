import { expect, test } from 'vitest'
import type { Clock } from '../../src/ports/clock.ts'
import { type RunReport, RunReports } from '../../src/worker/run-reports.ts'

const second = 1_000

function start() {
  let now = 0
  const lines: { readonly message: string; readonly fields: object }[] = []
  const say = (message: string, fields: object = {}) => void lines.push({ message, fields })
  const logger = { debug: say, info: say, warn: say, error: say }
  const reports = new RunReports(logger, { elapsed: () => now } as Clock)
  const add = (run: string, given: Partial<RunReport> = {}): void =>
    reports.add({
      ...{ run, procedure: 'refund', outcome: 'failed', code: 'E1', at: '/app/a.ts:1:2' },
      ...{ cause: 'Error: no card', remedy: 'Get one.' },
      ...given,
    })
  const pass = (ms: number): void => {
    now += ms
    reports.flush()
  }
  const runs = () => lines.map(({ fields }) => (fields as { readonly run: string }).run)
  return { reports, add, pass, lines, runs }
}

test('names the run, the code, the procedure, the place, the cause and the remedy in a line', () => {
  const { add, lines } = start()
  add('A-1')
  expect(lines).toEqual([
    {
      message: 'Run "A-1" failed (E1 in procedure "refund" at /app/a.ts:1:2): Error: no card. Get one.',
      fields: { run: 'A-1', procedure: 'refund', outcome: 'failed', code: 'E1', at: '/app/a.ts:1:2' },
    },
  ])
})

test('adds the internal error to a line', () => {
  const { add, lines } = start()
  const error = new Error('a fault of Pawl')
  add('A-1', { error })
  expect(lines[0]?.fields).toMatchObject({ run: 'A-1', error })
})

test('joins a cause of several lines, and truncates a long one', () => {
  const { add, lines } = start()
  add('A-1', { cause: 'AssertionError: expected\n\n  1\n  to be 2.', at: undefined })
  expect(lines[0]).toEqual({
    message: 'Run "A-1" failed (E1 in procedure "refund"): AssertionError: expected 1 to be 2. Get one.',
    fields: { run: 'A-1', procedure: 'refund', outcome: 'failed', code: 'E1' },
  })
  add('A-2', { cause: 'x'.repeat(100_000) })
  expect(lines[1]?.message.length).toBeLessThan(2_200)
})

test('writes a line for each of the first ten runs, then a count once a minute', () => {
  const { add, pass, lines, runs } = start()
  for (let n = 1; n <= 10; n++) add(`${n}`)
  expect(runs()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
  pass(second)
  for (let n = 11; n <= 13; n++) add(`${n}`)
  pass(58 * second)
  expect(lines).toHaveLength(10)
  pass(second)
  expect(lines).toHaveLength(11)
  expect(lines.at(-1)).toEqual({
    message:
      'Run "13" failed (E1 in procedure "refund" at /app/a.ts:1:2, 3 times in the last 60 s): Error: no card. Get one.',
    fields: { run: '13', procedure: 'refund', outcome: 'failed', code: 'E1', at: '/app/a.ts:1:2', count: 3 },
  })
  pass(120 * second)
  expect(lines).toHaveLength(11)
})

test('counts failures of one operation together, wherever it was called, and knows when a line is due', () => {
  const { add, pass, reports, lines, runs } = start()
  const report = {
    run: 'x',
    procedure: 'refund',
    outcome: 'failed',
    code: 'E1',
    cause: '',
    remedy: '',
  } as const
  const isDue = () => reports.isLineDue({ ...report, at: undefined, position: 3 })
  for (let n = 1; n <= 10; n++) {
    expect(isDue()).toBe(true)
    add(`${n}`, { position: 3 })
  }
  expect(isDue()).toBe(false)
  add('11', { position: 3, at: undefined })
  add('other operation', { position: 4 })
  expect(runs().slice(10)).toEqual(['other operation'])
  pass(60 * second)
  expect(lines.at(-1)?.fields).toMatchObject({ run: '11' })
  expect(isDue()).toBe(false)
  pass(60 * second)
  expect(isDue()).toBe(true)
})

test('writes a line at once for a report after more than a minute', () => {
  const { add, pass, runs } = start()
  for (let n = 1; n <= 10; n++) add(`${n}`)
  pass(60 * second)
  add('11')
  add('12')
  expect(runs().slice(10)).toEqual(['11'])
})

test('counts runs of another procedure, outcome, code or place separately', () => {
  const { add, runs } = start()
  for (let n = 0; n < 20; n++) add('usual')
  add('other code', { code: 'E2' })
  add('other place', { at: '/app/a.ts:9:9' })
  add('other procedure', { procedure: 'invoice' })
  add('other outcome', { outcome: 'is stuck' })
  expect(runs().slice(10)).toEqual(['other code', 'other place', 'other procedure', 'other outcome'])
})

test('writes the remaining counts when the worker stops', () => {
  const { add, reports, lines } = start()
  for (let n = 1; n <= 15; n++) add(`${n}`)
  reports.flush(true)
  reports.flush(true)
  expect(lines).toHaveLength(11)
  expect(lines.at(-1)?.fields).toMatchObject({ count: 5 })
})

test('forgets the group that was silent for longest, once its count was written', () => {
  const { add, lines } = start()
  for (let n = 1; n <= 12; n++) add(`${n}`, { code: 'first' })
  for (let n = 1; n <= 999; n++) add(`${n}`, { code: `E${n}` })
  expect(lines).toHaveLength(10 + 999)
  add('last', { code: 'last' })
  expect(lines.slice(-2).map(({ fields }) => fields)).toMatchObject([
    { code: 'first', count: 2 },
    { code: 'last' },
  ])
  for (let n = 1; n <= 12; n++) add(`${n}`, { code: 'first' })
  expect(lines).toHaveLength(10 + 999 + 2 + 10)
})
