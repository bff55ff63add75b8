import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { LogHash } from '../../events/seal.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit } from '../../ports/store/commit.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { WorkerServices } from '../services.ts'
import { LogReader } from './log-reader.ts'

/** The end of a log, as its owner knows it without reading: the position of the next event, and the hash before it. */
export class LogWriter {
  readonly #services: WorkerServices
  readonly #run: RunKey
  /** The hash of the log when it was claimed. */
  readonly #claimedLink: Uint8Array
  #epoch: number
  #head: number
  /** Null until the log is verified. */
  #hash: LogHash | null = null
  #written: readonly WrittenEvent[] = []

  constructor(services: WorkerServices, { run, epoch, head, link }: Claimed) {
    this.#services = services
    this.#run = run
    this.#claimedLink = link
    this.#epoch = epoch
    this.#head = head
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

  /** Yields the log from its beginning, verified against the owner's data. @throws as {@link LogReader.pages} */
  async *pages(): AsyncGenerator<readonly LogEvent[]> {
    const { store, sha256 } = this.#services
    const end = { head: this.#head, link: this.#hash?.keptLink() ?? this.#claimedLink }
    const hash = new LogHash(sha256)
    for await (const page of new LogReader(store, this.#run, end, hash).pages()) {
      if ((page.at(-1) as LogEvent).seq === end.head - 1) this.#hash ??= hash
      yield page
    }
  }

  /** Adds the first event, which the creator of the run has written. */
  begin(started: LogEvent): void {
    const hash = new LogHash(this.#services.sha256)
    hash.add(started)
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
