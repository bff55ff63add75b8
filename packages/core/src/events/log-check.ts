import { LogDamaged, WrittenLater } from './codec.ts'
import type { LogEvent, StoredEvent } from './event.ts'
import { type LogHash, sameBytes, sealEvery } from './seal.ts'

/** Where a log ends: how many events it has, and their hash. */
export interface LogHead {
  readonly head: number
  readonly link: Uint8Array
}

/**
 * Verifies a log while it is read: the events of a block by its seal, and those of the last block by the hash of the
 * head.
 */
export class LogCheck {
  readonly #hash: LogHash
  readonly #end: LogHead
  #next: number
  #verified: number
  /** The first event that only a later version understands. */
  #unknown: string | null = null

  /** `hash` is that of the log before event `first`, which begins a block. @throws LogDamaged if the log is empty */
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

  /** Takes the next events of the log; none if there are no more. @throws LogDamaged, WrittenLater */
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
    if (!isPossible(event)) throw new LogDamaged(`event ${seq} has a value that no event can have`)
    if (typeof event.type === 'number') this.#unknown ??= `event ${seq}, of type ${event.type},`
    if (typeof event.kind === 'number') this.#unknown ??= `event ${seq}, of kind ${event.kind},`
    const seal = this.#hash.add(event)
    if (!isSame(seal, event.link))
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

  /** An unknown type or kind that matches its hash is no damage: a later version wrote it. */
  #release(): void {
    if (this.#unknown !== null) throw new WrittenLater(this.#unknown)
    this.#verified = this.#next
  }
}

/** The events of a log that is being verified. No event of a damaged block leaves it. */
export class HeldLog {
  readonly #check: LogCheck
  /** Read, but not verified yet. */
  #held: readonly StoredEvent[] = []

  constructor(check: LogCheck) {
    this.#check = check
  }

  /** Takes the next events of the log, and returns those that are verified by now. @throws LogDamaged, WrittenLater */
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

function isSame(seal: Uint8Array | null, link: Uint8Array | null): boolean {
  return seal === null || link === null ? seal === link : sameBytes(seal, link)
}

/** In ms: a `Date` reaches no further. */
const latestTime = 8.64e15
/** Numbers that stand for no type or kind: the hash has one byte for each, and 255 for none. */
const maxCodes = 255

/** Whether the hash, which takes numbers in by 32 bits and words by 8, would tell this event from all others. */
function isPossible({ position, turn, nth, type, kind, at, epoch, tookMs }: StoredEvent): boolean {
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
