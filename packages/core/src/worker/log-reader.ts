import type { LogEvent } from '../events/event.ts'
import { type LogHash, sameBytes } from '../events/seal.ts'
import type { RunKey, StorePort } from '../ports/store.ts'

/** The log is not what was written: it has a gap, or does not match its seals. */
export class LogDamaged extends Error {
  override readonly name = 'LogDamaged'
}

const pageSize = 1_000
/** A log that could not be read is read again after this. */
export const readAgainMs = 1_000

/** Reads a log page by page and checks, on the way, that it is whole and that its seals hold. */
export class LogReader {
  readonly #store: StorePort
  readonly #run: RunKey
  readonly #head: number
  readonly #hash: LogHash

  /** `hash`: of the empty log; afterwards of what was read. */
  constructor(store: StorePort, run: RunKey, head: number, hash: LogHash) {
    this.#store = store
    this.#run = run
    this.#head = head
    this.#hash = hash
  }

  async *pages(): AsyncGenerator<readonly LogEvent[]> {
    let seq = 0
    for (let reading = this.#read(seq); reading !== null; ) {
      const page = await reading
      if (page.length === 0)
        throw new LogDamaged(`its log ends before event ${seq}, but should have ${this.#head} events`)
      // On its way while this page is made use of.
      reading = this.#read(seq + page.length)
      for (const event of page) this.#check(event, seq++)
      this.#hash.keep()
      yield page
    }
  }

  /** Null at the end of the log. */
  #read(seq: number): Promise<readonly LogEvent[]> | null {
    if (seq >= this.#head) return null
    const reading = this.#store.load(this.#run, seq, Math.min(pageSize, this.#head - seq))
    // Whoever stops before it comes is not told that it failed.
    reading.catch(() => {})
    return reading
  }

  #check(event: LogEvent, seq: number): void {
    if (event.seq !== seq) throw new LogDamaged(`event ${seq} is missing from its log`)
    const seal = this.#hash.add(event)
    if (seal === null && event.link === null) return
    if (seal === null || event.link === null || !sameBytes(seal, event.link))
      throw new LogDamaged(`its events ${Math.max(0, seq - 63)} to ${seq} do not match their seal`)
  }
}
