import { type LogEvent, noPosition } from '../../events/event.ts'
import { RecentSteps } from './recent-steps.ts'

const none: readonly LogEvent[] = []

/** Index of the delivered events of a log. */
export class LogIndex {
  /** By position. Null while empty, as in most runs: an empty map for each loaded run would take memory. */
  #records: Map<number, LogEvent[]> | null = null
  /** Null until an operation has settled. */
  #steps: RecentSteps | null = null
  #weight = 0

  /** Bytes of payload delivered to the continuation: an estimate of the memory it holds. */
  get weight(): number {
    return this.#weight
  }

  add(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.#weight += event.payload?.length ?? 0
      if (event.type === 'withdrawn') this.#records?.delete(event.position)
      else if (event.type === 'settled') {
        this.#records?.delete(event.position)
        this.steps.add(event)
      } else if (event.position !== noPosition) this.#record(event)
    }
  }

  /** Returns the events of a pending operation; they settle nothing. */
  recordsOf(position: number): readonly LogEvent[] {
    return this.#records?.get(position) ?? none
  }

  /** Whether people were asked and the log does not contain the outcome. */
  isAsked(position: number): boolean {
    return this.recordsOf(position).some(({ type }) => type === 'asked')
  }

  get steps(): RecentSteps {
    this.#steps ??= new RecentSteps()
    return this.#steps
  }

  #record(event: LogEvent): void {
    this.#records ??= new Map()
    const records = this.#records.get(event.position)
    if (records === undefined) this.#records.set(event.position, [event])
    else records.push(event)
  }
}
