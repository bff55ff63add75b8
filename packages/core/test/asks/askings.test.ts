import { expect, test } from 'vitest'
import { askingsAfter } from '../../src/asks/askings.ts'
import type { LogEvent } from '../../src/events/event.ts'

function event(type: LogEvent['type'], position: number, kind: LogEvent['kind'] = 'hitl_approval'): LogEvent {
  const where = { seq: 0, at: 0, epoch: 1, turn: 0, nth: 0, name: '', failed: false, tookMs: null }
  return { ...where, type, position, kind, payload: null, link: null }
}

test('counts a question whose result is not kept', () => {
  const events = [event('asked', 1), event('asked', 2), event('settled', 2), event('settled', 3, 'step')]
  expect(askingsAfter({}, events, [event('settled', 2)])).toEqual([[1, 1]])
  expect(askingsAfter({}, events, [])).toEqual([
    [1, 1],
    [2, 1],
  ])
})

test('remembers the questions that the last generation has not reached, or whose answer it has kept', () => {
  const askings = [
    [1, 3],
    [2, 1],
    [7, 2],
  ] as const
  const events = [event('asked', 1), event('asked', 2), event('settled', 2)]
  expect(askingsAfter({ askings }, events, events.slice(1))).toEqual([
    [1, 4],
    [2, 1],
    [7, 2],
  ])
})

test('counts an answer without its question, as earlier versions have kept it', () => {
  const events = [event('settled', 1), event('settled', 2, 'ail_decision')]
  expect(askingsAfter({}, events, [])).toEqual([
    [1, 1],
    [2, 1],
  ])
  expect(
    askingsAfter({}, [event('settled', 1, 'hitl_notification'), event('settled', 2, 'step')], []),
  ).toEqual([])
})
