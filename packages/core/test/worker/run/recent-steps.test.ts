import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../../src/events/event.ts'
import type { StepResult } from '../../../src/worker/activities/activity.ts'
import { RecentSteps, stepResultOf } from '../../../src/worker/run/recent-steps.ts'

function settled(i: number, bytes = 1): LogEvent {
  return {
    ...{
      type: 'settled',
      seq: i,
      at: 0,
      epoch: 1,
      position: i,
      turn: i,
      kind: 'step',
      nth: 0,
      failed: false,
    },
    ...{ tookMs: 0, name: `step ${i}`, payload: new Uint8Array(bytes), link: null },
  }
}

/** A log of so many steps, and what is kept of it. */
function after(count: number, bytes = 1) {
  const log = Array.from({ length: count }, (_, i) => settled(i, bytes))
  const recent = new RecentSteps()
  for (const event of log) recent.add(event)
  const add = (event: LogEvent): void => {
    log.push(event)
    recent.add(event)
  }
  const read = () => log.map((event) => stepResultOf(event) as StepResult)
  const last = (n: number) => recent.last(n)?.map(({ name }) => name) ?? null
  return { recent, add, read, last }
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `step ${from + i}`)

describe('recent step results', () => {
  test('keeps the last five step results, or all if there are fewer', () => {
    expect(after(20).last(5)).toEqual(names(15, 20))
    expect(after(20).last(6)).toBeNull()
    expect(after(4).last(1_000)).toEqual(names(0, 4))
    expect(after(0).last(5)).toEqual([])
  })

  test('keeps more step results once they have been read, including the ones that arrived meanwhile', () => {
    const { recent, add, read, last } = after(20)
    const wasRead = read()
    for (let i = 20; i < 23; i++) add(settled(i))
    recent.keepMore(8, wasRead)
    expect(last(8)).toEqual(names(15, 23))
    for (let i = 23; i < 30; i++) add(settled(i))
    expect(last(8)).toEqual(names(22, 30))
    expect(last(9)).toBeNull()
  })

  test.each([
    ['so many arrived meanwhile that some are not kept', 20, 26],
    ['a replay has started that delivers them all again', 20, 3],
  ])('keeps no more step results if %s', (_, readUpTo, count) => {
    const { recent, last } = after(count)
    recent.keepMore(30, after(readUpTo).read())
    expect(last(5)).toEqual(names(Math.max(0, count - 5), count))
    expect(last(6)).toEqual(count > 5 ? null : names(0, count))
  })

  test('drops a step result that is too large to show beside newer ones', () => {
    const { recent, read, last } = after(20, 2 ** 20)
    recent.keepMore(20, read())
    const kept = last(20)?.length ?? 0
    expect(kept).toBeGreaterThan(1)
    expect(kept).toBeLessThan(10)
    expect(last(20)).toEqual(names(20 - kept, 20))
  })
})
