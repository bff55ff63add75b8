import { type LogEvent, noPosition, type WrittenEvent } from '../../../src/events/event.ts'
import type { Pending } from '../../../src/kernel/operation.ts'

const midnight = Date.UTC(2030, 0, 1)

/** The log of a run as a store would keep it: numbered, a second from each event to the next. */
export class Log {
  readonly events: LogEvent[] = []

  /** A log of a run that has just begun, or one that has come that far. */
  constructor(recorded: readonly LogEvent[] = []) {
    this.events.push(...recorded)
    if (recorded.length === 0) this.#append('started', null, false, '')
  }

  /** The operation succeeded. Unless told otherwise its result is its own name. */
  settle(pending: Pending, value: string = `${pending.operation.name}!`): LogEvent {
    return this.#append('settled', pending, false, value)
  }

  fail(pending: Pending, message = `${pending.operation.name} failed`): LogEvent {
    return this.#append('settled', pending, true, message)
  }

  /** An attempt failed and will be repeated: settles nothing. */
  attempt(pending: Pending): LogEvent {
    return this.#append('attempted', pending, false, '')
  }

  cancel(why: '' | 'forced' = ''): LogEvent {
    return this.#append('cancelled', null, false, why)
  }

  /** Adds events as a worker drafts them. */
  add(events: readonly WrittenEvent[]): void {
    for (const event of events) {
      const seq = this.events.length
      this.events.push({ ...event, seq, at: midnight + seq * 1000, epoch: 1 })
    }
  }

  end(failed = false): LogEvent {
    return this.#append('ended', null, failed, '')
  }

  #append(type: LogEvent['type'], pending: Pending | null, failed: boolean, payload: string): LogEvent {
    const seq = this.events.length
    const event: LogEvent = {
      seq,
      at: midnight + seq * 1000,
      epoch: 1,
      link: null,
      type,
      position: pending?.position ?? noPosition,
      turn: pending?.turn ?? 0,
      nth: pending?.nth ?? 0,
      kind: pending?.operation.kind ?? null,
      name: pending?.operation.name ?? '',
      failed,
      tookMs: null,
      payload: Buffer.from(payload),
    }
    this.events.push(event)
    return event
  }
}

export function textOf(event: LogEvent): string {
  return Buffer.from(event.payload ?? []).toString()
}
