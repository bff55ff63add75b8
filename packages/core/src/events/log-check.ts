import { LogDamaged, WrittenLater } from './codec.ts'
import type { LogEvent, StoredEvent } from './event.ts'
import { type LogHash, sameBytes, sealEvery } from './seal.ts'

/** The end of a log: its number of events, and their hash. */
export interface LogHead {
  readonly head: number
  readonly link: Uint8Array
}

/**
 * Verifies a log while it is read.
 * The events of a block are verified by its seal, the last block by the hash of the head.
 */
export class LogCheck {
  readonly #hash: LogHash
  readonly #end: LogHead
  #next: number
  #verified: number
  /** The first event that only a later version understands. */
  #unknown: string | null = null

  /** `hash` is the hash of the log before event `first`, which begins a block. @throws LogDamaged if the log is empty */
  constructor(hash: LogHash, end: LogHead, first = 0) {
    if (end.head < 1) throw new LogDamaged(`its log should have ${end.head} events`)
    this.#hash = hash
    this.#end = end
    this.#next = first
    this.#verified = first
  }

  /** All events before this one are verified. */
  get verified(): number {
    return this.#verified
  }

  /** Adds the next events of the log; an empty list means that there are no more. @throws LogDamaged, WrittenLater */
  addAll(events: readonly StoredEvent[]): void {
    if (events.length === 0)
      throw new LogDamaged(
        `its log ends before event ${this.#next}, but should have ${this.#end.head} events`,
      )
    for (const event of events) this.#add(event)
  }

  #add(event: StoredEvent): void {
    const seq = this.#next++
    if (event.seq !== seq) throw new LogDamaged(`event ${seq} is missing from its log`)
    if (!isPossible(event)) throw new LogDamaged(`event ${seq} has a value that is impossible for an event`)
    if (typeof event.type === 'number') this.#unknown ??= `event ${seq}, of type ${event.type},`
    if (typeof event.kind === 'number') this.#unknown ??= `event ${seq}, of kind ${event.kind},`
    const seal = this.#hash.add(event)
    if (!isSameSeal(seal, event.link))
      throw new LogDamaged(`its events ${Math.max(0, seq - sealEvery + 1)} to ${seq} do not match their seal`)
    if (this.#next === this.#end.head) this.#verifyHead()
    else if (seal !== null) this.#release()
  }

  #verifyHead(): void {
    if (!sameBytes(this.#hash.link(), this.#end.link))
      throw new LogDamaged('its last events do not match the hash of its head')
    this.#hash.keep()
    this.#release()
  }

  /** Reports an unknown type or kind with a matching hash as written by a later version, not as damage. */
  #release(): void {
    if (this.#unknown !== null) throw new WrittenLater(this.#unknown)
    this.#verified = this.#next
  }
}

/** Buffers a log that is being verified, so that no event of a damaged block is used. */
export class HeldLog {
  readonly #check: LogCheck
  /** Events read but not yet verified. */
  #held: readonly StoredEvent[] = []

  constructor(check: LogCheck) {
    this.#check = check
  }

  /** Adds the next events of the log and returns the ones verified so far. @throws LogDamaged, WrittenLater */
  add(events: readonly StoredEvent[]): readonly LogEvent[] {
    const from = this.#check.verified
    this.#check.addAll(events)
    const all = this.#held.length === 0 ? events : [...this.#held, ...events]
    const count = this.#check.verified - from
    this.#held = count === all.length ? none : all.slice(count)
    return (count === all.length ? all : all.slice(0, count)) as readonly LogEvent[]
  }
}

const none: readonly StoredEvent[] = []

export function isSameSeal(seal: Uint8Array | null, link: Uint8Array | null): boolean {
  return seal === null || link === null ? seal === link : sameBytes(seal, link)
}

/** The latest time that a `Date` can hold, in ms. */
const latestTime = 8.64e15
/** The number of codes for types and kinds: the hash has one byte for each, and 255 means none. */
const maxCodes = 255

/** Returns whether the hash identifies the event: it covers 32 bits of numbers and 8 bits of codes. */
export function isPossible({ position, turn, nth, type, kind, at, epoch, tookMs }: StoredEvent): boolean {
  return (
    position === (position | 0) &&
    turn === (turn | 0) &&
    nth === (nth | 0) &&
    (typeof type === 'string' || (type >= 0 && type < maxCodes)) &&
    (typeof kind !== 'number' || (kind >= 0 && kind < maxCodes)) &&
    Math.abs(at) <= latestTime &&
    Number.isSafeInteger(epoch) &&
    (tookMs === null || Math.abs(tookMs) <= latestTime)
  )
}
