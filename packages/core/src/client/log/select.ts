import type { LogEvent } from '../../events/event.ts'
import { sealEvery } from '../../events/seal.ts'
import { firstOfBlock } from './pages.ts'

/** Selects entries of an execution log: the nearest ones before or after a position. */
export interface LogRange {
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

/** Reads the events of a log from `first` to before `end`, verified; both are borders of blocks or ends of the log. */
export type ReadSpan = (first: number, end: number) => AsyncIterable<readonly LogEvent[]>

/** Maximum number of events read at once while a log is searched backwards. */
const largestSpan = 16 * sealEvery

/** Maximum number of turns that settle no position: a cancel, an accepted input, operations refused by a closed scope. */
const spareTurns = sealEvery

/**
 * Returns the events of the newest positions below `before`, in order. Reads the log backwards, and stops as soon as no
 * earlier event can belong to these positions. `waiting` lists positions that have an entry and perhaps no event.
 */
export async function selectNewest(
  readSpan: ReadSpan,
  {
    head,
    base,
    firstPosition,
  }: { readonly head: number; readonly base: number; readonly firstPosition: number },
  { before = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY }: LogRange,
  waiting: readonly number[],
): Promise<readonly LogEvent[]> {
  const newest = new Newest(before, limit, waiting, firstPosition)
  for (let end = head, size = sealEvery; end > base && !newest.isComplete; size *= 2) {
    const first = Math.max(base, firstOfBlock(end - 1, base) + sealEvery - Math.min(size, largestSpan))
    const span = new Map<number, readonly LogEvent[]>()
    for await (const page of readSpan(first, end)) for (const event of page) newest.note(span, event)
    newest.add(span)
    end = first
  }
  return newest.events
}

/** Collects the newest positions while the log is read backwards. */
class Newest {
  readonly #before: number
  readonly #limit: number
  readonly #waiting: readonly number[]
  readonly #firstPosition: number
  #found = new Map<number, readonly LogEvent[]>()
  /** The highest position with an event so far, whether it is selected or not. */
  #highest: number
  #settled = 0

  constructor(before: number, limit: number, waiting: readonly number[], firstPosition: number) {
    this.#firstPosition = firstPosition
    this.#highest = firstPosition - 1
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

  /** Adds the part of the log before the ones already read. */
  add(span: ReadonlyMap<number, readonly LogEvent[]>): void {
    for (const [position, events] of span) {
      const later = this.#found.get(position) ?? []
      if (!later.some(isSettled)) this.#found.set(position, [...events, ...later])
    }
    const lowest = this.#lowest
    if (lowest === undefined) return
    for (const position of this.#found.keys()) if (position < lowest) this.#found.delete(position)
  }

  /** The lowest position of the page; undefined while there are too few. */
  get #lowest(): number | undefined {
    const known = [...new Set([...this.#found.keys(), ...this.#waiting])].sort((a, b) => b - a)
    return known[this.#limit - 1]
  }

  /** Whether no unread event can belong to the page. */
  get isComplete(): boolean {
    const lowest = this.#lowest
    if (lowest === undefined) return false
    let missing = lowest
    while (missing < this.#before && this.#found.get(missing)?.some(isTelling)) missing++
    if (missing >= this.#before) return true
    // Each turn settles one operation, so an operation issued in turn t has no event before t operations have settled.
    const settledBefore = this.#highest + 1 - this.#firstPosition - this.#settled + spareTurns
    return settledBefore < this.#leastTurn(missing)
  }

  /** Returns a turn before which no operation from this position on was issued. */
  #leastTurn(position: number): number {
    const turns = [...this.#found].flatMap(([at, [event]]) => (at <= position && event ? event.turn : []))
    return Math.max(0, ...turns)
  }
}

/** Returns the events of the oldest positions above `after`, in order. */
export async function selectOldest(
  pages: AsyncIterable<readonly LogEvent[]>,
  { after = -1, limit = Number.POSITIVE_INFINITY }: LogRange,
  firstPosition: number,
): Promise<readonly LogEvent[]> {
  const found = new Map<number, LogEvent[]>()
  const first = Math.max(after + 1, firstPosition)
  let next = first
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
    if (next >= first + limit) break
  }
  return [...found.values()].flat().sort((a, b) => a.seq - b.seq)
}

function isSettled({ type }: LogEvent): boolean {
  return type === 'settled'
}

/** Returns whether earlier events cannot change the entry. */
function isTelling({ type }: LogEvent): boolean {
  return type === 'settled' || type === 'asked' || type === 'created'
}
