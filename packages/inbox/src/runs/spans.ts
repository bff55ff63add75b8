import type { LogEntry } from '@pawl/server/internal'

/** A part of the timeline, in percent of its width. */
export type Span =
  | Bar
  | { readonly kind: 'idle'; readonly ms: number; readonly from: number; readonly width: number }

interface Bar {
  readonly kind: 'entry'
  readonly entry: LogEntry
  readonly lane: number
  readonly from: number
  readonly width: number
  readonly label: Label
}

/** Place of the name of a bar: beside it if the bar is too narrow. */
export type Label = 'inside' | 'after' | 'before' | 'none'

export interface Lanes {
  readonly spans: readonly Span[]
  readonly count: number
}

export const mostLanes = 8
/** Longer names are cut off. */
const mostLetters = 20
/** The width of a letter on a phone, in percent of the timeline. */
const letterWidth = 2
const idleWidth = 12
const leastWidth = 1.5
/** Idle time is folded where it is longer than this part of all the time that something happened. */
const foldedPart = 0.15

/**
 * Lays out entries along the time in which something happened. Times in which nothing did, or a person or a timer was
 * waited for, are folded to a fixed width: bursts between long waits stay readable.
 */
export function layOut(entries: readonly LogEntry[], now: number): Lanes {
  const ordered = [...entries].sort((a, b) => a.position - b.position)
  const intervals = ordered.map((entry) => intervalOf(entry, now))
  const stops = [...new Set(intervals.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const segments = stops.slice(1).map((to, index) => {
    const from = stops[index] ?? to
    const isBusy = intervals.some((one) => one.isWork && one.from < to && one.to > from)
    return { from, to, isBusy, ms: to - from }
  })
  const busyMs = segments.reduce((sum, one) => sum + (one.isBusy ? one.ms : 0), 0)
  const folded = segments.map((one) => !one.isBusy && one.ms > Math.max(1_000, busyMs * foldedPart))
  const foldedCount = folded.filter(Boolean).length
  const scaledMs = segments.reduce((sum, one, index) => sum + (folded[index] ? 0 : one.ms), 0)
  const idle = Math.min(idleWidth, 60 / Math.max(1, foldedCount))
  const rest = 100 - foldedCount * idle
  const starts: { readonly at: number; readonly x: number }[] = []
  const idles: Span[] = []
  let x = 0
  for (const [index, one] of segments.entries()) {
    starts.push({ at: one.from, x })
    const width = folded[index] ? idle : scaledMs === 0 ? 0 : (one.ms / scaledMs) * rest
    if (folded[index]) idles.push({ kind: 'idle', ms: one.ms, from: x, width })
    x += width
  }
  starts.push({ at: stops.at(-1) ?? 0, x })
  const xOf = (at: number) => starts.findLast((one) => one.at <= at)?.x ?? 0
  return place(ordered, intervals, idles, xOf)
}

interface Interval {
  readonly from: number
  readonly to: number
  readonly isWork: boolean
}

function intervalOf(entry: LogEntry, now: number): Interval {
  // The timestamp of an open entry is its beginning, that of any other its end.
  const at = Date.parse(entry.timestamp)
  const isOpen = entry.status === 'open'
  return {
    from: isOpen ? at : at - Math.max(0, entry.duration_ms),
    to: isOpen ? Math.max(now, at) : at,
    isWork: isWork(entry.type),
  }
}

/** Steps and calls work; asks, timers and signals wait. */
export function isWork(type: string): boolean {
  return type === 'step' || type === 'llm' || type === 'ail_decision'
}

function place(
  entries: readonly LogEntry[],
  intervals: readonly Interval[],
  idles: readonly Span[],
  xOf: (at: number) => number,
): Lanes {
  const lanes: { readonly bar: number; readonly end: number; readonly index: number }[] = []
  const take = (of: 'bar' | 'end', from: number): number => {
    const free = lanes.findIndex((lane) => lane[of] <= from + 0.01)
    return free < 0 ? lanes.length : free
  }
  const bars: Bar[] = []
  for (const [index, entry] of entries.entries()) {
    const { from, to } = intervals[index] ?? { from: 0, to: 0 }
    const x = Math.min(xOf(from), 100 - leastWidth)
    const width = Math.min(100 - x, Math.max(leastWidth, xOf(to) - x))
    const room = roomOf(entry)
    let label: Label = width >= room / 2 ? 'inside' : x < 60 ? 'after' : 'before'
    let lane = take('end', label === 'before' ? x - room : x)
    if (lane >= mostLanes && label === 'inside') {
      // A long bar rather than the name of the short one before it.
      lane = take('bar', x)
      const before = lanes[lane]?.index ?? -1
      const covered = bars[before]
      if (covered?.label === 'after') bars[before] = { ...covered, label: 'none' }
    } else if (lane >= mostLanes) {
      // A bar without its name rather than none.
      label = 'none'
      lane = take('end', x)
    }
    const bar = x + width
    if (lane < mostLanes) lanes[lane] = { bar, end: bar + (label === 'after' ? room : 0), index }
    bars.push({ kind: 'entry', entry, lane, from: x, width, label })
  }
  return { spans: [...idles, ...bars], count: Math.max(1, lanes.length) }
}

/** The width that a name needs beside its bar, in percent of the timeline. */
export function roomOf({ name }: LogEntry): number {
  return Math.min(mostLetters, name.length) * letterWidth
}
