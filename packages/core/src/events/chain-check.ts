import type { Sha256 } from '../base/hash.ts'
import { LogDamaged, WrittenLater } from './codec.ts'
import type { LogEvent, StoredEvent } from './event.ts'
import { generationOf, hashBefore } from './generation.ts'
import { isPossible, isSameSeal, type LogHead } from './log-check.ts'
import { LogHash, sameBytes } from './seal.ts'

/** The end of a log with all its generations. */
export interface ChainEnd extends LogHead {
  /** Where the last generation begins. */
  readonly base: number
}

/**
 * Verifies a log with all its generations while it is read, from the first event of any of them. Every generation names the
 * hash of the log before it, so that the chain goes from the first event to the last.
 */
export class ChainCheck {
  readonly #sha256: Sha256
  #hash: LogHash | null = null
  #base = 0
  #next: number

  /** `first` is the seq of the first event. */
  constructor(sha256: Sha256, first: number) {
    this.#sha256 = sha256
    this.#next = first
  }

  /** Returns the event, if it may follow. @throws LogDamaged, WrittenLater, PayloadCorrupt */
  add(event: StoredEvent): LogEvent {
    const seq = this.#next++
    if (event.seq !== seq) throw new LogDamaged(`event ${seq} is missing from its log`)
    if (!isPossible(event)) throw new LogDamaged(`event ${seq} has a value that is impossible for an event`)
    if (typeof event.type === 'number' || typeof event.kind === 'number')
      throw new WrittenLater(`event ${seq} of its log`)
    const hash = this.#hashFor(event)
    if (!isSameSeal(hash.add(event), event.link))
      throw new LogDamaged(`its events up to ${seq} do not match their seal`)
    return event as LogEvent
  }

  /** Verifies that the log ends here. @throws LogDamaged */
  end({ head, base, link }: ChainEnd): void {
    if (this.#next !== head) throw new LogDamaged(`its log ends before event ${this.#next} of ${head}`)
    if (this.#base !== base)
      throw new LogDamaged(`its last generation begins at event ${this.#base} instead of ${base}`)
    if (this.#hash === null || !sameBytes(this.#hash.link(), link))
      throw new LogDamaged('its last events do not match the hash of its head')
  }

  #hashFor(event: StoredEvent): LogHash {
    const { seq, type } = event
    if (this.#hash === null) {
      if (type !== 'started') throw new LogDamaged(`its event ${seq} does not begin a generation`)
      this.#hash = hashBefore(this.#sha256, seq, event)
      this.#base = seq
    } else if (type === 'started') {
      const { previous, previousBase } = generationOf(seq, event)
      if (previous === undefined || previousBase !== this.#base || !sameBytes(this.#hash.link(), previous))
        throw new LogDamaged(`the generation that begins at event ${seq} does not follow the one before`)
      this.#hash = new LogHash(this.#sha256, previous, seq, seq)
      this.#base = seq
    }
    return this.#hash
  }
}
