import type { BodyOperation } from '../../../authoring/operations.ts'
import { Withheld } from '../../../authoring/step/withheld.ts'
import { formatDuration } from '../../../base/duration.ts'
import { showValue } from '../../../base/text.ts'
import { isThenable } from '../../../base/thenable.ts'
import { failureOf, recordFailure } from '../../../errors/failure.ts'
import { isFinalError } from '../../../errors/final-error.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { maxPayloadBytes } from '../../../events/codec.ts'
import type { LogEvent } from '../../../events/event.ts'
import { encode, encodeRecord } from '../../../events/payload.ts'
import type { AgentResult, FailedPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, ActivityContext, Busy } from '../activity.ts'
import { describeShown, keepSmall } from '../shown.ts'
import type { AttemptOutcome } from './attempt.ts'
import { type AttemptListener, Attempts, describeCode } from './attempts.ts'
import { usageMember } from './usage.ts'

const noTopics: readonly string[] = []

/** No code catches the error of an undo: a rollback calls it. */
const undoTexts = {
  next: 'It was an undo: what it should have undone is still there.',
  remedy: 'Undo it by hand, and fix the undo for later runs.',
}

/** A step or an agent call: attempts of the author's code, until one succeeds or none is left. */
export class BodyActivity implements Activity, AttemptListener {
  readonly isOpenAsk = false
  readonly topics: readonly string[] = noTopics
  readonly #context: ActivityContext
  readonly #pending: Pending<BodyOperation>
  readonly #attempts: Attempts

  /** `records` are the attempts in the log. */
  constructor(context: ActivityContext, pending: Pending<BodyOperation>, records: readonly LogEvent[]) {
    this.#context = context
    this.#pending = pending
    this.#attempts = new Attempts(context, pending, records, this)
  }

  get busy(): Busy {
    return this.#attempts.busy
  }
  get dueAt(): number | null {
    return this.#attempts.dueAt
  }

  begin(): void {
    this.#attempts.begin()
  }
  onDue(): void {
    this.#attempts.onDue()
  }
  onMessage(): void {}
  onRecorded(event: LogEvent): void {
    this.#attempts.onRecorded(event)
  }
  stop(): void {
    this.#attempts.stop()
  }

  onOutcome(outcome: AttemptOutcome): void {
    if (outcome.state === 'done') return this.#settle(outcome)
    if (outcome.error instanceof Withheld) return this.#settleFailed(outcome.error.refusal, outcome.tookMs)
    const { retry } = this.#pending.operation
    const { number } = this.#attempts
    if (number >= retry.attempts || !this.#isRetryable(outcome, retry.when)) return this.#fail(outcome)
    this.#attempts.tryAgain(recordFailure(outcome.error), outcome.tookMs, retry)
  }

  #isRetryable(outcome: AttemptOutcome, when: ((error: unknown) => boolean) | undefined): boolean {
    if (outcome.state === 'done' || isFinalError(outcome.error)) return false
    try {
      const answer: unknown = when?.(outcome.error) ?? true
      if (!isThenable(answer)) return Boolean(answer)
      Promise.resolve(answer).catch(() => {})
      throw new TypeError('it returned a promise, but must return a boolean')
    } catch (error) {
      this.#context.logger.warn(
        `retry.when of ${describeCode(this.#pending.operation)} threw an error, which ends the attempts: ${showValue(error)}`,
        { run: this.#context.runId },
      )
      return false
    }
  }

  #settle(outcome: { readonly value: unknown; readonly tookMs: number }): void {
    const { kind } = this.#pending.operation
    let payload: Uint8Array | null
    try {
      const result: unknown =
        kind === 'llm'
          ? ({ output: outcome.value, usage: this.#attempts.cost, ...this.#shown } satisfies AgentResult)
          : outcome.value
      payload = encode(result, 'result')
      if (payload !== null && payload.length > maxPayloadBytes / 4) this.#warnOfSize(payload.length)
    } catch (error) {
      // The effect has happened; a retry would repeat it with the same result.
      return this.#settleFailed(error, outcome.tookMs)
    }
    this.#context.record({ type: 'settled', pending: this.#pending, tookMs: outcome.tookMs, payload })
  }

  /** What an agent was given, and what it has to return. */
  get #shown(): Pick<AgentResult, 'input' | 'schema'> {
    const { input, outputSchema } = this.#pending.operation
    const shown = describeShown(input ?? null)
    const schema = keepSmall(outputSchema?.())
    return { ...(shown && { input: shown }), ...(schema && { schema }) }
  }

  #warnOfSize(bytes: number): void {
    this.#context.logger.warn(
      `Result of ${describeCode(this.#pending.operation)} has ${bytes} of at most ${maxPayloadBytes} bytes`,
      {
        run: this.#context.runId,
      },
    )
  }

  #fail(outcome: Exclude<AttemptOutcome, { readonly state: 'done' }>): void {
    const { kind, name, timeoutMs } = this.#pending.operation
    const texts = kind === 'undo' ? undoTexts : {}
    const error =
      outcome.state === 'timed-out'
        ? new PawlError('step-timed-out', { step: name, after: formatDuration(timeoutMs ?? 0) }, texts)
        : new PawlError(
            'step-failed',
            { step: name, attempts: this.#attempts.number, cause: failureOf(recordFailure(outcome.error)) },
            { ...texts, cause: outcome.error },
          )
    this.#settleFailed(error, outcome.tookMs)
  }

  #settleFailed(error: unknown, tookMs: number): void {
    const failed: FailedPayload = {
      ...recordFailure(error),
      ...usageMember(this.#attempts.cost),
      ...this.#shown,
    }
    const payload = encodeRecord(failed, 'failure')
    this.#context.record({ type: 'settled', pending: this.#pending, failed: true, tookMs, payload })
  }
}
