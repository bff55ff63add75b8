import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { AgentResult, AttemptedPayload, FailedPayload } from '../../events/payloads.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { AttemptObservation, ObservedRun, Observer } from '../../ports/observer.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Unit } from '../../ports/store/log.ts'
import type { Continuation } from './continuation.ts'

/** A run, as far as its reports need it. */
interface Reported {
  readonly id: string
  readonly claimed: Claimed
  readonly continuation: Pick<Continuation, 'trace' | 'startedAt' | 'notes'>
}

/** Reports to the observer what a run does, once it is in the log. */
export class RunObservation {
  readonly #observer: Observer
  readonly #run: Reported
  /** The attempts that have begun, and whose outcome is not in the log, by position. */
  readonly #attempts = new Map<number, AttemptObservation>()

  constructor(observer: Observer, run: Reported) {
    this.#observer = observer
    this.#run = run
  }

  /** Called before an attempt of a body. */
  attempt({ position, operation: { kind, name } }: Pending, number: number): AttemptObservation {
    const attempt = this.#observer.attempted({ ...this.#name(), kind, name, position, number } as Parameters<
      Observer['attempted']
    >[0])
    this.#attempts.set(position, attempt)
    return attempt
  }

  /** Called when a unit was written, before its events are in the index of the log. */
  written(unit: Unit, events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.type === 'attempted' || event.type === 'settled' || event.type === 'asked')
        this.#reportAttempt(event)
      if (event.type === 'settled' || event.type === 'withdrawn') this.#reportAsk(event)
      if (event.type === 'ended' && unit.next.do === 'end') this.#reportEnd(event, unit.next.state)
    }
    for (const effect of unit.effects)
      if (effect.do === 'create-run') this.#observer.created({ procedure: effect.run.procedure })
  }

  #name(): ObservedRun {
    const { id, claimed, continuation } = this.#run
    return { run: id, procedure: claimed.procedure, trace: continuation.trace }
  }

  #reportAttempt({ type, position, kind, tookMs, failed, payload }: LogEvent): void {
    const attempt = this.#attempts.get(position)
    if (attempt === undefined) return
    this.#attempts.delete(position)
    const isRetried = type === 'attempted'
    const failure = isRetried
      ? (decode(payload) as AttemptedPayload).failure
      : failed
        ? (decode(payload) as FailedPayload)
        : undefined
    const hasUsage = isRetried || failed || kind === 'llm'
    const usage = hasUsage ? ((decode(payload) as Partial<AgentResult>).usage ?? []) : []
    const result = () => (kind === 'llm' ? (decode(payload) as AgentResult).output : decode(payload))
    attempt.recorded({
      ...{ tookMs: tookMs ?? 0, failure, isRetried, result },
      usage: usage as readonly Readonly<Record<string, unknown>>[],
    })
  }

  #reportAsk({ type, position, kind, failed, payload, at }: LogEvent): void {
    const asked = this.#run.continuation.notes.recordsOf(position).find((one) => one.type === 'asked')
    if (asked === undefined || kind === null) return
    const given = type === 'settled' && !failed ? Object(decode(payload)) : {}
    const { at: answeredAt, timedOut } = given as { readonly at?: unknown; readonly timedOut?: unknown }
    const isAnswered = typeof answeredAt === 'number'
    this.#observer.closed({
      ...{ ...this.#name(), kind, position, openedAt: asked.at, closedAt: isAnswered ? answeredAt : at },
      outcome:
        type === 'withdrawn'
          ? 'withdrawn'
          : isAnswered
            ? 'answered'
            : timedOut === true
              ? 'timed-out'
              : 'failed',
    })
  }

  #reportEnd({ failed, payload, at }: LogEvent, status: 'completed' | 'failed' | 'cancelled'): void {
    const failure = failed && status === 'failed' ? (decode(payload) as FailedPayload) : undefined
    const startedAt = this.#run.continuation.startedAt ?? at
    this.#observer.ended({ ...this.#name(), status, failure, startedAt, endedAt: at })
  }
}
