import { type LogEvent, noPosition } from '../../events/event.ts'
import { RecentSteps } from './recent-steps.ts'

const none: readonly LogEvent[] = []

/** What is remembered of a log whose events have been delivered. */
export class LogIndex {
  /** By position. Null while there are none, as in most runs: an empty map for each would be a part of what it costs to keep one. */
  #records: Map<number, LogEvent[]> | null = null
  /** Null until an operation has settled. */
  #steps: RecentSteps | null = null
  #weight = 0

  /** Bytes of payload that the continuation has been given: what keeping it may cost. */
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

  /** Events of a pending operation; they settle nothing. */
  recordsOf(position: number): readonly LogEvent[] {
    return this.#records?.get(position) ?? none
  }

  /** Whether people were asked, and the log does not say how it ended. */
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
