import type { LogEvent } from '../../events/event.ts'
import { sealEvery } from '../../events/seal.ts'
import { firstOfBlock } from './pages.ts'

/** Which entries of an execution log are asked for: those before or after a position, the nearest to it. */
export interface LogRange {
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

/** Reads the events of a log from `first` to before `end`, verified; both are borders of blocks or ends of the log. */
export type ReadSpan = (first: number, end: number) => AsyncIterable<readonly LogEvent[]>

/** The largest part of a log that is read at once while it is searched backwards. */
const largestSpan = 16 * sealEvery

/**
 * Turns that settle no position: those of a cancel, of an accepted input, and of operations that a closed scope
 * refused.
 */
const spareTurns = sealEvery

/**
 * The events of the newest positions before `before`, in order. Reads the log from its end, and no further than the
 * events of these positions can be. `waiting` are positions that have an entry and perhaps no event.
 */
export async function selectNewest(
  readSpan: ReadSpan,
  head: number,
  { before = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY }: LogRange,
  waiting: readonly number[],
): Promise<readonly LogEvent[]> {
  const newest = new Newest(before, limit, waiting)
  for (let end = head, size = sealEvery; end > 0 && !newest.isComplete; size *= 2) {
    const first = Math.max(0, firstOfBlock(end - 1) + sealEvery - Math.min(size, largestSpan))
    const span = new Map<number, readonly LogEvent[]>()
    for await (const page of readSpan(first, end)) for (const event of page) newest.note(span, event)
    newest.add(span)
    end = first
  }
  return newest.events
}

/** What is known of the newest positions while the log is read from its end. */
class Newest {
  readonly #before: number
  readonly #limit: number
  readonly #waiting: readonly number[]
  #found = new Map<number, readonly LogEvent[]>()
  /** Of all positions that have an event in what was read, also of those that are not asked for. */
  #highest = -1
  #settled = 0

  constructor(before: number, limit: number, waiting: readonly number[]) {
    this.#before = before
    this.#limit = limit
    this.#waiting = waiting.filter((position) => position < before)
  }

  get events(): readonly LogEvent[] {
    return [...this.#found.values()].flat().sort((a, b) => a.seq - b.seq)
  }

  note(span: Map<number, readonly LogEvent[]>, event: LogEvent): void {
    const { position, type } = event
    if (position < 0) return
    this.#highest = Math.max(this.#highest, position)
    if (type === 'settled') this.#settled++
    if (position < this.#before) span.set(position, [...(span.get(position) ?? []), event])
  }

  /** Adds a part of the log that stands before all that was read. */
  add(span: ReadonlyMap<number, readonly LogEvent[]>): void {
    for (const [position, events] of span) {
      const later = this.#found.get(position) ?? []
      if (!later.some(isSettled)) this.#found.set(position, [...events, ...later])
    }
    const lowest = this.#lowest
    if (lowest === undefined) return
    for (const position of this.#found.keys()) if (position < lowest) this.#found.delete(position)
  }

  /** The lowest position of the page; undefined as long as there are too few. */
  get #lowest(): number | undefined {
    const known = [...new Set([...this.#found.keys(), ...this.#waiting])].sort((a, b) => b - a)
    return known[this.#limit - 1]
  }

  /** Whether no event of the page can stand before what was read. */
  get isComplete(): boolean {
    const lowest = this.#lowest
    if (lowest === undefined) return false
    let missing = lowest
    while (missing < this.#before && this.#found.get(missing)?.some(isTelling)) missing++
    if (missing >= this.#before) return true
    // An operation issued in turn t has no event before t operations had settled: one a turn.
    const settledBefore = this.#highest + 1 - this.#settled + spareTurns
    return settledBefore < this.#leastTurn(missing)
  }

  /** No operation from this position on was issued in an earlier turn. */
  #leastTurn(position: number): number {
    const turns = [...this.#found].flatMap(([at, [event]]) => (at <= position && event ? event.turn : []))
    return Math.max(0, ...turns)
  }
}

/** The events of the first positions after `after`, in order. */
export async function selectOldest(
  pages: AsyncIterable<readonly LogEvent[]>,
  { after = -1, limit = Number.POSITIVE_INFINITY }: LogRange,
): Promise<readonly LogEvent[]> {
  const found = new Map<number, LogEvent[]>()
  let next = after + 1
  for await (const page of pages) {
    for (const event of page) {
      if (event.position <= after) continue
      const events = found.get(event.position)
      if (events) events.push(event)
      else found.set(event.position, [event])
    }
    const ordered = [...found.keys()].sort((a, b) => a - b)
    for (const position of ordered.slice(limit)) found.delete(position)
    while (found.get(next)?.some(isSettled)) next++
    if (next > after + limit) break
  }
  return [...found.values()].flat().sort((a, b) => a.seq - b.seq)
}

function isSettled({ type }: LogEvent): boolean {
  return type === 'settled'
}

/** Whether no earlier event changes the entry. */
function isTelling({ type }: LogEvent): boolean {
  return type === 'settled' || type === 'asked'
}
