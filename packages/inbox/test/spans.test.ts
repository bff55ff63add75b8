import { expect, test } from 'vitest'
import type { LogEntry } from '../src/api/types.ts'
import { layOut } from '../src/runs/spans.ts'

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
