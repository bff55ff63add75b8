import type { LogEntry } from '@pawl/server/internal'

/** A part of the axis, in percent of its width. */
interface Part {
  readonly from: number
  readonly width: number
}

/** When an entry began and ended. */
export interface Bar extends Part {
  readonly entry: LogEntry
}

/** A time in which nothing happened, drawn as a break in the axis. */
export interface Idle extends Part {
  readonly ms: number
}

/** An instant at the axis, in ms, and where it is. */
export interface Tick {
  readonly at: number
  readonly x: number
}

export interface Waterfall {
  /** In the order of the log. */
  readonly bars: readonly Bar[]
  readonly idles: readonly Idle[]
  readonly ticks: readonly Tick[]
}

const idleWidth = 12
/** Breaks leave the rest of the axis to what happened. */
const mostIdleWidth = 60
const leastWidth = 1.5
/** A millisecond is at most this wide: what took a few is not drawn as if it had taken long. */
const mostPerMs = 1
/** Idle time is folded if it is longer than this part of all the time that something happened. */
const foldedPart = 0.15
/** Between two ticks there is room for a time of day. */
const tickWidth = 16

/**
 * Lays out entries along the time in which something happened. Times in which nothing did, or a person or a timer was
 * waited for, are folded to a break: bursts between long waits stay readable.
 */
export function layOut(entries: readonly LogEntry[], now: number): Waterfall {
  const ordered = [...entries].sort((a, b) => a.position - b.position)
  const intervals = ordered.map((entry) => intervalOf(entry, now))
  const stops = [...new Set(intervals.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  const segments = stops.slice(1).map((to, index) => {
    const from = stops[index] ?? to
    const isBusy = intervals.some((one) => one.isWork && one.from < to && one.to > from)
    return { from, to, isBusy, ms: to - from }
  })
  const busyMs = segments.reduce((sum, one) => sum + (one.isBusy ? one.ms : 0), 0)
  const isFolded = (one: (typeof segments)[number]) =>
    !one.isBusy && one.ms > Math.max(1_000, busyMs * foldedPart)
  const foldedCount = segments.filter(isFolded).length
  const scaledMs = segments.reduce((sum, one) => sum + (isFolded(one) ? 0 : one.ms), 0)
  const idleRoom = Math.min(idleWidth * foldedCount, mostIdleWidth)
  const perMs = scaledMs === 0 ? 0 : Math.min(mostPerMs, (100 - idleRoom) / scaledMs)
  // What the scale does not need goes to the breaks.
  const idle = foldedCount === 0 ? 0 : (100 - perMs * scaledMs) / foldedCount
  const starts: Tick[] = []
  const idles: Idle[] = []
  let x = 0
  for (const one of segments) {
    starts.push({ at: one.from, x })
    const width = isFolded(one) ? idle : one.ms * perMs
    if (isFolded(one)) idles.push({ ms: one.ms, from: x, width })
    x += width
  }
  const end = { at: stops.at(-1) ?? 0, x }
  const marks = [...starts, end]
  const xOf = (at: number) => marks.findLast((one) => one.at <= at)?.x ?? 0
  const bars = ordered.map((entry, index): Bar => {
    const { from, to } = intervals[index] ?? { from: 0, to: 0 }
    const left = Math.min(xOf(from), 100 - leastWidth)
    return { entry, from: left, width: Math.min(100 - left, Math.max(leastWidth, xOf(to) - left)) }
  })
  return { bars, idles, ticks: ticksOf(marks, idles) }
}

/** The begin, the end of each break, and the end: as many as have room. */
function ticksOf(marks: readonly Tick[], idles: readonly Idle[]): readonly Tick[] {
  const ends = new Set(idles.map(({ from, width }) => from + width))
  const ticks: Tick[] = []
  for (const [index, mark] of marks.entries()) {
    const isAxisEnd = index === 0 || index === marks.length - 1
    if (!isAxisEnd && !ends.has(mark.x)) continue
    const last = ticks.at(-1)
    if (last === undefined || mark.x - last.x >= tickWidth) ticks.push(mark)
  }
  return ticks
}

interface Interval {
  readonly from: number
  readonly to: number
  readonly isWork: boolean
}

function intervalOf(entry: LogEntry, now: number): Interval {
  // Of an open entry the timestamp is its beginning, of any other its end.
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
