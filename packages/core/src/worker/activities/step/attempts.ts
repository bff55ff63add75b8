import type { AgentCall, Usage } from '../../../authoring/agent/agent.ts'
import type { BodyOperation, DecideOperation } from '../../../authoring/operations.ts'
import type { FailureRecord } from '../../../errors/failure.ts'
import type { LogEvent } from '../../../events/event.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { AttemptedPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Waiter } from '../../slots.ts'
import type { ActivityContext, Busy } from '../activity.ts'
import { Attempt, type AttemptOutcome, type AttemptOwner } from './attempt.ts'
import { createCall } from './call.ts'
import { type Backoff, delayBefore } from './retry.ts'
import { gatherUsage, usageMember } from './usage.ts'

/** Receives the outcomes of attempts. */
export interface AttemptListener {
  /** Called when an attempt has ended, to record its outcome or to retry. */
  onOutcome(outcome: AttemptOutcome): void
}

/**
 * Runs the author's code, one attempt at a time. An attempt that will be retried is recorded, so that the count survives a
 * crash.
 */
export class Attempts implements AttemptOwner, Waiter {
  readonly #context: ActivityContext
  readonly #pending: Pending<BodyOperation | DecideOperation>
  readonly #listener: AttemptListener
  #number = 1
  #dueAt: number | null = null
  #busy = false
  #running: Attempt | null = null
  /** The usage of the attempts in the log, and of the current one. */
  readonly #spent: Usage[] = []
  #usages: Usage[] = []

  /** `records` are the attempts in the log. */
  constructor(
    context: ActivityContext,
    pending: Pending<BodyOperation | DecideOperation>,
    records: readonly LogEvent[],
    listener: AttemptListener,
  ) {
    this.#context = context
    this.#pending = pending
    this.#listener = listener
    for (const record of records) this.onRecorded(record)
  }

  /** The number of the current attempt, from 1. */
  get number(): number {
    return this.#number
  }
  get busy(): Busy {
    if (!this.#busy) return false
    return this.#running === null ? 'queued' : 'working'
  }
  /** When the next attempt starts. */
  get dueAt(): number | null {
    return this.#dueAt
  }
  /** The usage of all attempts. */
  get cost(): readonly Usage[] {
    return gatherUsage([...this.#spent, ...this.#usages])
  }

  begin(): void {
    if (this.#dueAt === null) this.onDue()
  }

  onDue(): void {
    this.#dueAt = null
    this.#busy = true
    this.#context.slots.take(this)
  }

  /** Schedules a retry, once this failure is in the log and its delay has passed. */
  tryAgain(failure: FailureRecord, tookMs: number, backoff: Backoff): void {
    const delayMs = delayBefore(this.#number, backoff, this.#context.entropy)
    this.#dueAt = this.#context.now() + delayMs
    const attempted: AttemptedPayload = {
      attempt: this.#number,
      failure,
      delayMs,
      ...usageMember(this.#usages),
    }
    const payload = encodeRecord(attempted, 'attempt')
    this.#context.record({ type: 'attempted', pending: this.#pending, tookMs, payload })
  }

  onRecorded({ type, payload, at }: LogEvent): void {
    if (type !== 'attempted') return
    const { attempt, delayMs, usage } = decode(payload) as AttemptedPayload
    this.#number = attempt + 1
    this.#dueAt = at + delayMs
    this.#spent.push(...((usage ?? []) as readonly Usage[]))
  }

  stop(): void {
    this.#context.slots.leave(this)
    this.#running?.abandon()
    this.#busy = false
  }

  // ── one attempt

  onSlot(): void {
    this.#usages = []
    this.#running = new Attempt(this.#context, this)
    this.#running.begin()
  }

  get describe(): string {
    return `${describeCode(this.#pending.operation)} of run "${this.#context.runId}"`
  }

  get timeoutMs(): number | null {
    return this.#pending.operation.timeoutMs
  }

  run(attempt: Attempt): unknown {
    const { operation, position, issuedAt } = this.#pending
    if (operation.kind === 'ail_decision') return this.#call(attempt, operation.assess, position)
    const { body, holds, keyOf = position } = operation
    if (holds === undefined) return this.#call(attempt, body, keyOf)
    const moment = { number: this.#number, now: this.#context.now(), issuedAt }
    return holds(moment).then(() => this.#call(attempt, body, keyOf))
  }

  #call(attempt: Attempt, body: (call: AgentCall) => unknown, keyOf: number): unknown {
    const usages = this.#usages
    const key = (): string => this.#context.idempotencyKey(keyOf)
    const call = createCall(body, { key, attempt, number: this.#number, usages })
    const { observation } = this.#context
    if (observation === null) return body(call)
    return observation.attempt(this.#pending, this.#number).run(() => body(call))
  }

  onEnd(outcome: AttemptOutcome): void {
    this.#running = null
    this.#busy = false
    this.#context.guard(() => this.#listener.onOutcome(outcome))
  }
}

/** Describes the author's code, for messages. */
export function describeCode(operation: BodyOperation | DecideOperation): string {
  if (operation.kind === 'ail_decision') return `agent "${operation.agentName}"`
  return `${operation.kind === 'llm' ? 'agent' : 'step'} "${operation.name}"`
}
