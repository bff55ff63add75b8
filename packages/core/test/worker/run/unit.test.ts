import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noPosition } from '../../../src/events/event.ts'
import type { Pending } from '../../../src/kernel/operation.ts'
import type { Draft } from '../../../src/worker/activities/activity.ts'
import { completeWith, failWith } from '../../../src/worker/run/ending.ts'
import { eventsOf } from '../../../src/worker/run/outbox.ts'
import { endParts, lingerMs, planUnit, type Standing, withdrawal } from '../../../src/worker/run/unit.ts'

const still: Standing = {
  now: 1_000,
  isHandedOut: true,
  handsOver: false,
  isEmpty: true,
  settles: false,
  dueAt: null,
  isBusy: false,
  isWorking: false,
  publishAt: null,
}

test('an event has no time below 0, whatever the clock of the store does', () => {
  const pending = { position: 0, turn: 0, nth: 0, operation: { kind: 'signal', name: 'go' } }
  const draft = { type: 'settled', pending: pending as unknown as Pending } as const
  expect(eventsOf([-5, 0, 5, null].map((tookMs) => ({ ...draft, tookMs })))).toMatchObject([
    { tookMs: 0 },
    { tookMs: 0 },
    { tookMs: 5 },
    { tookMs: null },
  ])
})

describe('planUnit', () => {
  test('writes what a busy run shows of itself once it is due, and waits for that until then', () => {
    const busy = { ...still, isBusy: true, dueAt: 9_000 }
    expect(planUnit({ ...busy, publishAt: 1_000 })).toEqual({ do: 'write' })
    expect(planUnit({ ...busy, publishAt: 1_400 })).toEqual({ do: 'wait', until: 1_400 })
    expect(planUnit({ ...still, publishAt: 1_400 })).toEqual({ do: 'park', wakeAt: null })
  })

  test('parks a run that waits for messages only', () => {
    expect(planUnit(still)).toEqual({ do: 'park', wakeAt: null })
  })

  test('parks a run until its next deadline', () => {
    expect(planUnit({ ...still, dueAt: 9_000 })).toEqual({ do: 'park', wakeAt: 9_000 })
  })

  test('keeps a run whose deadline is near', () => {
    const dueAt = still.now + lingerMs
    expect(planUnit({ ...still, dueAt })).toEqual({ do: 'wait', until: dueAt })
    expect(planUnit({ ...still, dueAt: dueAt + 1 })).toEqual({ do: 'park', wakeAt: dueAt + 1 })
  })

  test('keeps a run while a body is running', () => {
    expect(planUnit({ ...still, isBusy: true, isWorking: true })).toEqual({ do: 'wait', until: null })
  })

  test('writes a result and keeps the run that it moves', () => {
    expect(planUnit({ ...still, isEmpty: false, settles: true })).toEqual({ do: 'write' })
  })

  test('parks a run in the unit that records events without effect on the procedure', () => {
    expect(planUnit({ ...still, isEmpty: false })).toEqual({ do: 'park', wakeAt: null })
  })

  test('checks again while messages are left to hand out', () => {
    expect(planUnit({ ...still, isHandedOut: false })).toEqual({ do: 'look-again' })
    expect(planUnit({ ...still, isHandedOut: false, isEmpty: false })).toEqual({ do: 'write' })
  })

  test('hands a run over when its worker stops, unless a body is running or something is to be written', () => {
    const stopping = { ...still, handsOver: true, isBusy: true }
    expect(planUnit(stopping)).toEqual({ do: 'hand-over' })
    expect(planUnit({ ...stopping, isWorking: true })).toEqual({ do: 'wait', until: null })
    expect(planUnit({ ...stopping, isEmpty: false })).toEqual({ do: 'write' })
  })

  test('never parks a run with running bodies, results or messages, and never drops drafts', () => {
    const standing = fc.record({
      now: fc.constant(1_000),
      isHandedOut: fc.boolean(),
      handsOver: fc.boolean(),
      isEmpty: fc.boolean(),
      settles: fc.boolean(),
      dueAt: fc.option(fc.integer({ min: 0, max: 5_000 })),
      isBusy: fc.boolean(),
      isWorking: fc.boolean(),
      publishAt: fc.option(fc.integer({ min: 0, max: 5_000 })),
    })
    fc.assert(
      fc.property(standing, (given) => {
        const plan = planUnit(given)
        if (plan.do === 'park') {
          expect(given).toMatchObject({ isHandedOut: true, settles: false, isBusy: false })
          expect(plan.wakeAt).toBe(given.dueAt)
        }
        if (!given.isEmpty) expect(['write', 'park']).toContain(plan.do)
      }),
    )
  })
})

test('composes the last unit from late results, then withdrawals, then the end', () => {
  const pending = (position: number): Pending =>
    ({ position, turn: 0, nth: 0, operation: { kind: 'step', name: `p${position}` } }) as unknown as Pending
  const past = { rollback: null, cancelled: null }
  const ending = completeWith(5, [])
  const sent: Draft[] = [{ type: 'settled', pending: pending(0) }]
  const parts = endParts(ending, sent, [withdrawal(pending(1), 1), withdrawal(pending(2), 2)], ['left'], past)
  expect(parts.events.map(({ type, position }) => [type, position])).toEqual([
    ['settled', 0],
    ['withdrawn', 1],
    ['withdrawn', 2],
    ['ended', noPosition],
  ])
  expect(parts.drafts.flatMap(({ effects }) => effects ?? [])).toEqual([
    { do: 'close-ask', position: 1, status: 'withdrawn' },
    { do: 'close-ask', position: 2, status: 'withdrawn' },
  ])
  expect(parts).toMatchObject({
    next: { do: 'end', state: 'completed' },
    info: { waiting: [], leftOver: { signals: ['left'] } },
  })
  expect(endParts(failWith(new Error('no'), []), [], [], [], past).next).toEqual({
    do: 'end',
    state: 'failed',
  })
})
