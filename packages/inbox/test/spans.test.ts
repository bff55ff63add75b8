import type { LogEntry } from '@pawl/server/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layOut } from '../src/runs/spans.ts'

const start = Date.parse('2026-01-01T10:00:00.000Z')

/** An entry that ended `end` ms after the start of the run. */
function entry(position: number, type: string, end: number, took: number): LogEntry {
  const timestamp = new Date(start + end).toISOString()
  return { position, type, name: `${position}`, status: 'done', result: null, timestamp, duration_ms: took }
}

const open = (position: number, type: string, begin: number): LogEntry => ({
  ...entry(position, type, begin, 0),
  status: 'open',
})

test('a wait of hours between two short steps is folded, and both steps stay wide enough to read', () => {
  const hours = 3 * 3_600_000
  const { bars, idles } = layOut(
    [
      entry(0, 'step', 100, 100),
      entry(1, 'hitl_approval', 100 + hours, hours),
      entry(2, 'step', 200 + hours, 100),
    ],
    start + hours + 200,
  )
  expect(idles).toMatchObject([{ ms: hours }])
  const steps = bars.filter((bar) => bar.entry.type === 'step')
  for (const { width } of steps) expect(width).toBeGreaterThan(40)
  expect(steps[0]?.from).toBe(0)
  expect(steps[1]?.from).toBeGreaterThan(50)
})

test('each entry has a bar, in the order of the log, however many are at work at once', () => {
  const entries = Array.from({ length: 16 }, (_, position) => entry(position, 'step', 1_000, 1_000)).reverse()
  const { bars } = layOut(entries, start + 1_000)
  expect(bars.map((bar) => bar.entry.position)).toEqual(Array.from({ length: 16 }, (_, index) => index))
  expect(new Set(bars.map(({ from, width }) => `${from} ${width}`)).size).toBe(1)
})

test('what begins in the same turn is drawn at the same place, also before a wait that is folded', () => {
  const { bars, idles } = layOut(
    [open(0, 'timer', 3), open(1, 'hitl_approval', 5), entry(2, 'step', 3, 3)],
    start + 4_000,
  )
  expect(idles).toHaveLength(1)
  const [timer, ask] = bars
  expect(Math.abs((timer?.from ?? 0) - (ask?.from ?? 0))).toBeLessThan(3)
})

test('steps of no length are not drawn as a long run', () => {
  const { bars } = layOut(
    [0, 1, 2].map((position) => entry(position, 'step', position, 0)),
    start + 2,
  )
  for (const { from, width } of bars) expect(from + width).toBeLessThan(5)
})

test('the axis has the time of its begin and of its end, and of the end of each break, as they have room', () => {
  const { ticks, idles } = layOut(
    [entry(0, 'step', 1_000, 1_000), entry(1, 'timer', 61_000, 60_000), entry(2, 'step', 62_000, 1_000)],
    start + 62_000,
  )
  expect(idles).toHaveLength(1)
  expect(ticks.map(({ at }) => at - start)).toEqual([0, 61_000, 62_000])
})

test('everything stays within the width, whatever the times are', () => {
  const some = fc.record({
    type: fc.constantFrom('step', 'hitl_approval', 'timer'),
    end: fc.oneof(fc.integer({ min: -5, max: 5_000 }), fc.constant(1e9)),
    took: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.constant(1e9)),
  })
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 20 }), (all) => {
      const entries = all.map(({ type, end, took }, position) => entry(position, type, end, took))
      const { bars, idles, ticks } = layOut(entries, start + 5_000)
      expect(bars).toHaveLength(entries.length)
      for (const { from, width } of [...bars, ...idles]) {
        expect(from).toBeGreaterThanOrEqual(0)
        expect(from + width).toBeLessThanOrEqual(100.001)
      }
      for (const [index, { x }] of ticks.entries())
        expect(x - (ticks[index - 1]?.x ?? -16)).toBeGreaterThan(15.9)
    }),
  )
})
