import type { LogEntry } from '@pawl/server/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layOut, mostLanes, roomOf } from '../src/runs/spans.ts'

const start = Date.parse('2026-01-01T10:00:00.000Z')

/** An entry that ended `end` ms after the start of the run. */
function entry(position: number, type: string, end: number, took: number): LogEntry {
  const timestamp = new Date(start + end).toISOString()
  return { position, type, name: `${position}`, status: 'done', result: null, timestamp, duration_ms: took }
}

test('a wait of hours between two short steps is folded, and both steps stay wide enough to read', () => {
  const hours = 3 * 3_600_000
  const { spans } = layOut(
    [
      entry(0, 'step', 100, 100),
      entry(1, 'hitl_approval', 100 + hours, hours),
      entry(2, 'step', 200 + hours, 100),
    ],
    start + hours + 200,
  )
  const idle = spans.filter(({ kind }) => kind === 'idle')
  expect(idle).toMatchObject([{ ms: hours }])
  const steps = spans.flatMap((span) => (span.kind === 'entry' && span.entry.type === 'step' ? [span] : []))
  for (const { width } of steps) expect(width).toBeGreaterThan(40)
  expect(steps[0]?.from).toBe(0)
  expect(steps[1]?.from).toBeGreaterThan(50)
})

test('entries at the same time get lanes of their own, one after another shares one', () => {
  const together = layOut([entry(0, 'step', 100, 100), entry(1, 'step', 100, 100)], start + 100)
  expect(together.count).toBe(2)
  const inTurn = layOut([entry(0, 'step', 100, 100), entry(1, 'step', 200, 100)], start + 200)
  expect(inTurn.count).toBe(1)
})

test('everything stays within the width, whatever the times are', () => {
  const { spans } = layOut(
    [entry(0, 'step', 0, 0), entry(1, 'timer', -5, 10), entry(2, 'step', 1e9, 1e9)],
    start,
  )
  for (const { from, width } of spans) {
    expect(from).toBeGreaterThanOrEqual(0)
    expect(from + width).toBeLessThanOrEqual(100.001)
  }
})

test('no bar and no name covers another one', () => {
  const some = fc.record({
    type: fc.constantFrom('step', 'hitl_approval', 'timer'),
    end: fc.integer({ min: 0, max: 5_000 }),
    took: fc.integer({ min: 0, max: 2_000 }),
    letters: fc.integer({ min: 1, max: 30 }),
  })
  fc.assert(
    fc.property(fc.array(some, { minLength: 2, maxLength: 20 }), (all) => {
      const entries = all.map(({ type, end, took, letters }, position) => ({
        ...entry(position, type, end, took),
        name: 'n'.repeat(letters),
      }))
      const { spans, count } = layOut(entries, start + 5_000)
      expect(count).toBeLessThanOrEqual(mostLanes)
      const shown = spans.flatMap((span) => {
        if (span.kind === 'idle' || span.lane >= mostLanes) return []
        const { lane, from, width, label } = span
        const room = roomOf(span.entry)
        return [
          {
            lane,
            from: label === 'before' ? from - room : from,
            to: from + width + (label === 'after' ? room : 0),
          },
        ]
      })
      for (const [index, one] of shown.entries()) {
        expect(one.from).toBeGreaterThanOrEqual(0)
        for (const other of shown.slice(index + 1))
          if (one.lane === other.lane)
            expect(one.to <= other.from + 0.02 || other.to <= one.from + 0.02).toBe(true)
      }
    }),
  )
})

test('a long bar is drawn rather than the name of a short one, where no lane has room for both', () => {
  // As many short steps as there are lanes, with names, and then a long wait.
  const short = Array.from({ length: mostLanes }, (_, position) => ({
    ...entry(position, 'step', 10 + position, 10),
    name: 'a step with a name',
  }))
  const { spans } = layOut([...short, entry(mostLanes, 'hitl_approval', 500, 480)], start + 500)
  const bars = spans.flatMap((span) => (span.kind === 'entry' ? [span] : []))
  expect(bars.at(-1)).toMatchObject({ label: 'inside' })
  expect(bars.at(-1)?.lane).toBeLessThan(mostLanes)
  expect(bars.filter(({ label }) => label === 'none')).toHaveLength(1)
})
