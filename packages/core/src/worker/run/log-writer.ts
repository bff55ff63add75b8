import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { hashBefore } from '../../events/generation.ts'
import { LogHash } from '../../events/seal.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit } from '../../ports/store/log.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { WorkerServices } from '../services.ts'
import { LogReader } from './log-reader.ts'

/** The end of a log, as its owner knows it without reading: the position of the next event, and the hash before it. */
export class LogWriter {
  readonly #services: WorkerServices
  readonly #run: RunKey
  readonly #base: number
  /** The hash of the log when it was claimed. */
  readonly #claimedLink: Uint8Array
  #epoch: number
  #head: number
  /** Null until the log is verified. */
  #hash: LogHash | null = null
  #written: readonly WrittenEvent[] = []

  constructor(services: WorkerServices, { run, epoch, head, base, link }: Claimed) {
    this.#services = services
    this.#run = run
    this.#base = base
    this.#claimedLink = link
    this.#epoch = epoch
    this.#head = head
  }

  get head(): number {
    return this.#head
  }
  /** Where its present generation begins. */
  get base(): number {
    return this.#base
  }
  /** The number of events in the present generation. */
  get length(): number {
    return this.#head - this.#base
  }
  get epoch(): number {
    return this.#epoch
  }
  set epoch(epoch: number) {
    this.#epoch = epoch
  }

  /** Yields the present generation of the log, verified against the owner's data. @throws as {@link LogReader.pages} */
  async *pages(): AsyncGenerator<readonly LogEvent[]> {
    const { store, sha256 } = this.#services
    const link = this.#hash?.keptLink() ?? this.#claimedLink
    const end = { head: this.#head, base: this.#base, link }
    const reader = new LogReader(store, sha256, this.#run, end)
    for await (const page of reader.pages()) {
      if ((page.at(-1) as LogEvent).seq === end.head - 1) this.#hash ??= reader.hash
      yield page
    }
  }

  /** Adds the first events of a generation, which are written. */
  begin(events: readonly LogEvent[]): void {
    const hash = hashBefore(this.#services.sha256, this.#base, events[0])
    for (const event of events) hash.add(event)
    hash.keep()
    this.#hash = hash
  }

  /** Prepares events for a unit. Nothing else can be appended until `confirm` or `takeBack`. */
  append(
    events: readonly WrittenEvent[],
  ): Pick<Unit, 'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link'> {
    const hash = this.#hash as LogHash
    this.#written = events
    for (const event of events) event.link = hash.add(event)
    return {
      run: this.#run,
      epoch: this.#epoch,
      head: this.#head,
      events,
      seals: events.map(({ link }) => link),
      link: events.length === 0 ? null : hash.link(),
    }
  }

  /** Prepares the events that end a generation, and the first ones of the next, which `compose` makes of the hash before them. */
  appendGeneration(
    closing: readonly WrittenEvent[],
    compose: (previous: Uint8Array) => readonly WrittenEvent[],
  ): Pick<Unit, 'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link'> & { readonly base: number } {
    const { link, ...unit } = this.append(closing)
    const previous = link ?? (this.#hash as LogHash).link()
    const base = this.#head + closing.length
    const hash = new LogHash(this.#services.sha256, previous, base, base)
    const opening = compose(previous)
    for (const event of opening) event.link = hash.add(event)
    this.#written = [...closing, ...opening]
    const seals = this.#written.map((event) => event.link)
    return { ...unit, events: this.#written, seals, link: hash.link(), base }
  }

  /** Confirms that the events were written. */
  confirm(at: number, epoch: number): readonly LogEvent[] {
    const events = this.#written
    this.#written = []
    this.#epoch = epoch
    for (const event of events) {
      event.seq = this.#head++
      event.at = at
      event.epoch = epoch
    }
    this.#hash?.keep()
    return events
  }

  /** Discards the events, which were not written and never will be. */
  takeBack(): void {
    this.#written = []
    this.#hash?.drop()
  }
}
