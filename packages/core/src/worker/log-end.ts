import type { LogEvent } from '../events/event.ts'
import { LogHash } from '../events/seal.ts'
import type { Claimed, RunKey, Unit } from '../ports/store.ts'
import { LogReader } from './log-reader.ts'
import type { Surroundings } from './run-host.ts'

/** An event on its way into the log: what the store adds is filled in once it is there. */
export type WrittenEvent = { -readonly [K in keyof LogEvent]: LogEvent[K] }

/** The end of a log, as its owner knows it without reading: where the next event goes, and the hash before it. */
export class LogEnd {
  readonly #surroundings: Surroundings
  readonly #run: RunKey
  #epoch: number
  #head: number
  #hash: LogHash
  #written: readonly WrittenEvent[] = []

  constructor(surroundings: Surroundings, { run, epoch, head }: Claimed) {
    this.#surroundings = surroundings
    this.#run = run
    this.#epoch = epoch
    this.#head = head
    this.#hash = new LogHash(surroundings.sha256)
  }

  get head(): number {
    return this.#head
  }
  get epoch(): number {
    return this.#epoch
  }
  set epoch(epoch: number) {
    this.#epoch = epoch
  }

  /** The log from its beginning, checked on the way. */
  pages(): AsyncGenerator<readonly LogEvent[]> {
    this.#hash = new LogHash(this.#surroundings.sha256)
    return new LogReader(this.#surroundings.store, this.#run, this.#head, this.#hash).pages()
  }

  /** The hash of all that was read. */
  link(): Uint8Array {
    return this.#hash.link()
  }

  /** The first event, which its creator has written. */
  begin(started: LogEvent): void {
    this.#hash.add(started)
    this.#hash.keep()
  }

  /** How these events go into a unit. Nothing else can be appended until `confirm` or `takeBack`. */
  append(
    events: readonly WrittenEvent[],
  ): Pick<Unit, 'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link'> {
    this.#written = events
    for (const event of events) event.link = this.#hash.add(event)
    return {
      run: this.#run,
      epoch: this.#epoch,
      head: this.#head,
      events,
      seals: events.map(({ link }) => link),
      link: events.length === 0 ? null : this.#hash.link(),
    }
  }

  /** They are in the log. */
  confirm(at: number, epoch: number): readonly LogEvent[] {
    const events = this.#written
    this.#written = []
    this.#epoch = epoch
    for (const event of events) {
      event.seq = this.#head++
      event.at = at
      event.epoch = epoch
    }
    this.#hash.keep()
    return events
  }

  /** They are not, and never will be. */
  takeBack(): void {
    this.#written = []
    this.#hash.drop()
  }
}
