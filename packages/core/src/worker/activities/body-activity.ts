import type { Usage } from '../../authoring/agent.ts'
import type { BodyOperation } from '../../authoring/operations.ts'
import { formatDuration } from '../../base/duration.ts'
import { showValue } from '../../base/text.ts'
import { failureOf, recordFailure } from '../../errors/failure.ts'
import { isFinalError } from '../../errors/final-error.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { maxPayloadBytes } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import { encode, encodeRecord } from '../../events/payload.ts'
import type { AgentResult, AttemptedPayload, FailedPayload } from '../../events/payloads.ts'
import type { Activity, PendingOf, Workplace } from './activity.ts'
import { Attempt, type AttemptOutcome } from './attempt.ts'
import { createCall } from './call.ts'
import { delayBefore, readAttempts } from './retry.ts'
import { gatherUsage, usageMember } from './usage.ts'

/**
 * A step or a call to an agent: attempts of the author's code, until one gives a result or none is left.
 * Each attempt that will be followed by another is recorded, so that a crash does not begin the count anew.
 */
export class BodyActivity implements Activity {
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #place: Workplace
  readonly #pending: PendingOf<BodyOperation>
  #attempt: number
  #dueAt: number | null
  #running: Attempt | null = null
  #leaveQueue: () => void = () => {}
  #busy = false
  /** What the attempts in the log have cost. */
  readonly #usages: Usage[]

  /** `records` are the attempts in the log. */
  constructor(place: Workplace, pending: PendingOf<BodyOperation>, records: readonly LogEvent[]) {
    this.#place = place
    this.#pending = pending
    const { attempt, dueAt, usage } = readAttempts(records)
    this.#attempt = attempt
    this.#dueAt = dueAt
    this.#usages = usage
  }

  get busy(): boolean {
    return this.#busy
  }
  get dueAt(): number | null {
    return this.#dueAt
  }

  begin(): void {
    if (this.#dueAt === null) this.onDue()
  }

  onDue(): void {
    this.#dueAt = null
    this.#busy = true
    this.#leaveQueue = this.#place.slots.take(() => this.#run())
  }

  onMessage(): void {}

  onRecorded(event: LogEvent): void {
    const { attempt, dueAt, usage } = readAttempts([event])
    this.#attempt = attempt
    this.#dueAt = dueAt
    this.#usages.push(...usage)
  }

  stop(): void {
    this.#leaveQueue()
    this.#running?.abandon()
    this.#busy = false
  }

  #run(): void {
    const { operation, position } = this.#pending
    const { body } = operation
    const usages: Usage[] = []
    const key = (): string => this.#place.idempotencyKey(position)
    this.#running = new Attempt(this.#place, {
      describe: `${operation.kind === 'llm' ? 'agent' : 'step'} "${operation.name}" of run "${this.#place.runId}"`,
      timeoutMs: operation.timeoutMs,
      body: (signal) => body(createCall(body, { key, signal, attempt: this.#attempt, usages })),
      onEnd: (outcome) => {
        this.#running = null
        this.#busy = false
        this.#place.guard(() => this.#record(outcome, usages))
      },
    })
    this.#running.begin()
  }

  #record(outcome: AttemptOutcome, usages: readonly Usage[]): void {
    if (outcome.state === 'done') return this.#settle(outcome, usages)
    const { retry } = this.#pending.operation
    const delayMs =
      this.#attempt < retry.attempts && this.#isRetryable(outcome, retry.when)
        ? delayBefore(this.#attempt, retry, this.#place.entropy)
        : null
    if (delayMs === null) return this.#fail(outcome, usages)
    this.#dueAt = this.#place.now() + delayMs
    const attempted: AttemptedPayload = {
      attempt: this.#attempt,
      failure: recordFailure(outcome.error),
      delayMs,
      ...usageMember(usages),
    }
    this.#place.record({
      type: 'attempted',
      pending: this.#pending,
      tookMs: outcome.tookMs,
      payload: encodeRecord(attempted, 'attempt'),
    })
  }

  #isRetryable(outcome: AttemptOutcome, when: ((error: unknown) => boolean) | undefined): boolean {
    if (outcome.state === 'done' || isFinalError(outcome.error)) return false
    try {
      return when?.(outcome.error) ?? true
    } catch (error) {
      this.#place.logger.warn(
        `retry.when of step "${this.#pending.operation.name}" threw, which ends its attempts: ${showValue(error)}`,
        { run: this.#place.runId },
      )
      return false
    }
  }

  #settle(outcome: { readonly value: unknown; readonly tookMs: number }, usages: readonly Usage[]): void {
    const { kind } = this.#pending.operation
    let payload: Uint8Array | null
    try {
      const result: unknown =
        kind === 'llm'
          ? ({
              output: outcome.value,
              usage: gatherUsage([...this.#usages, ...usages]),
            } satisfies AgentResult)
          : outcome.value
      payload = encode(result, 'result')
      if (payload !== null && payload.length > maxPayloadBytes / 4) this.#warnOfSize(payload.length)
    } catch (error) {
      // The effect has happened; another attempt would repeat it and give the same.
      return this.#settleFailed(error, outcome.tookMs, usages)
    }
    this.#place.record({ type: 'settled', pending: this.#pending, tookMs: outcome.tookMs, payload })
  }

  #warnOfSize(bytes: number): void {
    const { name } = this.#pending.operation
    this.#place.logger.warn(
      `the result of step "${name}" has ${bytes} bytes of the ${maxPayloadBytes} it may have`,
      {
        run: this.#place.runId,
      },
    )
  }

  #fail(outcome: Exclude<AttemptOutcome, { readonly state: 'done' }>, usages: readonly Usage[]): void {
    const { name, timeoutMs } = this.#pending.operation
    const error =
      outcome.state === 'timed-out'
        ? new PawlError('step-timed-out', { step: name, after: formatDuration(timeoutMs ?? 0) })
        : new PawlError(
            'step-failed',
            { step: name, attempts: this.#attempt, cause: failureOf(recordFailure(outcome.error)) },
            { cause: outcome.error },
          )
    this.#settleFailed(error, outcome.tookMs, usages)
  }

  #settleFailed(error: unknown, tookMs: number, usages: readonly Usage[]): void {
    const failed: FailedPayload = { ...recordFailure(error), ...usageMember([...this.#usages, ...usages]) }
    const payload = encodeRecord(failed, 'failure')
    this.#place.record({ type: 'settled', pending: this.#pending, failed: true, tookMs, payload })
  }
}
