import type { Usage } from '../../../authoring/agent/agent.ts'
import type { Verdict } from '../../../authoring/agent/verdict.ts'
import type { AskSpec, DecideOperation } from '../../../authoring/operations.ts'
import { defaultRetry } from '../../../authoring/step/options.ts'
import { clipText, showValue } from '../../../base/text.ts'
import { type FailureRecord, recordFailure } from '../../../errors/failure.ts'
import { isFinalError } from '../../../errors/final-error.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import type { LogEvent } from '../../../events/event.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { AnswerPayload, AskPayload, DecisionPayload, Judged } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Message } from '../../../ports/store/mail.ts'
import type { Activity, ActivityContext, Busy } from '../activity.ts'
import { AskActivity } from '../ask/ask-activity.ts'
import { describeShown } from '../shown.ts'
import type { AttemptOutcome } from '../step/attempt.ts'
import { type AttemptListener, Attempts } from '../step/attempts.ts'
import { usageMember } from '../step/usage.ts'

/**
 * A decision by an agent, with a fallback: a choice, an ask (at the same position), or a failure. There is no implicit
 * default.
 */
export class DecideActivity implements Activity, AttemptListener {
  readonly #context: ActivityContext
  readonly #pending: Pending<DecideOperation>
  readonly #records: readonly LogEvent[]
  readonly #attempts: Attempts
  /** Set once people are asked. */
  #ask: AskActivity | null = null

  constructor(context: ActivityContext, pending: Pending<DecideOperation>, records: readonly LogEvent[]) {
    this.#context = context
    this.#pending = pending
    this.#records = records
    this.#attempts = new Attempts(context, pending, records, this)
  }

  get busy(): Busy {
    return this.#attempts.busy || (this.#ask?.busy ?? false)
  }
  get dueAt(): number | null {
    return (this.#ask ?? this.#attempts).dueAt
  }
  get topics(): readonly string[] {
    return this.#ask?.topics ?? []
  }
  get isOpenAsk(): boolean {
    return this.#ask?.isOpenAsk ?? false
  }

  begin(): void {
    const asked = this.#records.find(({ type }) => type === 'asked')
    if (asked !== undefined) this.#awaitAnswer(asAsked(decode(asked.payload) as AskPayload), asked)
    else this.#attempts.begin()
  }

  onDue(): void {
    ;(this.#ask ?? this.#attempts).onDue()
  }

  onMessage(message: Message): void {
    this.#ask?.onMessage(message)
  }

  onRecorded(event: LogEvent): void {
    ;(this.#ask ?? this.#attempts).onRecorded(event)
  }

  stop(): void {
    this.#attempts.stop()
    this.#ask?.stop()
  }
  close(): boolean {
    this.#attempts.stop()
    return this.#ask?.close() ?? false
  }

  // ── the agent

  onOutcome(outcome: AttemptOutcome): void {
    const { choices, minConfidence, attempts, agentName } = this.#pending.operation
    const { tookMs } = outcome
    const fault = findFault(outcome, choices, agentName)
    if (fault !== null) {
      const { why, failure, isFinal } = fault
      if (this.#attempts.number < attempts && !isFinal)
        return this.#attempts.tryAgain(failure, tookMs, defaultRetry)
      this.#context.logger.warn(
        `Agent "${agentName}" could not decide; the fallback is used: ${failure.message}`,
        {
          run: this.#context.runId,
        },
      )
      return this.#fallBack({ why, rationale: failure.message, usage: this.#attempts.cost }, tookMs)
    }
    const { choice, rationale, confidence } = (outcome as { readonly value: unknown }).value as Verdict
    const sure = confidence === undefined ? {} : { confidence }
    if ((confidence ?? 0) < minConfidence)
      return this.#fallBack({ why: 'unsure', choice, rationale, ...sure, usage: this.#attempts.cost }, tookMs)
    this.#settle(
      { choice, source: 'agent', why: 'decided', rationale, ...sure, by: `agent:${agentName}` },
      tookMs,
    )
  }

  // ── the fallback

  #fallBack(judged: Judged, tookMs: number): void {
    const { fallback, question } = this.#pending.operation
    const { number } = this.#attempts
    if (fallback.do === 'ask') return this.#askPeople(fallback.ask, judged)
    if (fallback.do === 'choose') {
      const { why, rationale, confidence } = judged
      const sure = confidence === undefined ? {} : { confidence }
      return this.#settle(
        { choice: fallback.choice, source: 'fallback', why, rationale, ...sure, by: 'policy:fallback' },
        tookMs,
      )
    }
    const cause = {
      name: 'Error',
      message: `${fallback.message} (${judged.why}: ${judged.rationale})`,
      code: undefined,
    }
    const error = new PawlError(
      'step-failed',
      { step: question, attempts: number, cause },
      {
        what: `No decision was made on ${showValue(question)} after ${number} ${number === 1 ? 'attempt' : 'attempts'}: ${cause.message}.`,
        next: 'This is recorded, and the agent is not asked again.',
        remedy:
          'Catch this error, or pass a fallback that decides: one of the choices, or { ask } for people.',
      },
    )
    this.#context.record({
      type: 'settled',
      pending: this.#pending,
      failed: true,
      tookMs,
      payload: encodeRecord(
        { ...recordFailure(error), ...usageMember(judged.usage as readonly Usage[]) },
        'failure',
      ),
    })
  }

  #askPeople(ask: AskSpec, given: Judged): void {
    const judged = { ...given, rationale: clipText(given.rationale, shownRationale) }
    const { payload } = ask
    const details = [...(payload.details ?? []), describeJudged(this.#pending.operation.agentName, judged)]
    this.#awaitAnswer({ ...ask, payload: { ...payload, judged, details } }, undefined)
    this.#ask?.begin()
  }

  #awaitAnswer(spec: AskSpec, asked: LogEvent | undefined): void {
    const context = this.#context
    this.#ask = new AskActivity({ context, pending: this.#pending, spec, asked, toPayload: decidedByPerson })
    context.lookAgain()
  }

  #settle(decision: Omit<DecisionPayload, 'at' | 'usage'>, tookMs: number): void {
    const { question, material } = this.#pending.operation
    const shown = describeShown(material)
    const payload: DecisionPayload = {
      ...{ ...decision, at: this.#context.now(), usage: this.#attempts.cost, question },
      ...(shown === undefined ? {} : { material: shown }),
    }
    this.#context.record({
      type: 'settled',
      pending: this.#pending,
      tookMs,
      payload: encodeRecord(payload, 'decision'),
    })
  }
}

interface Fault {
  readonly why: Judged['why']
  readonly failure: FailureRecord
  /** Whether the error ends the attempts. */
  readonly isFinal: boolean
}

function findFault(outcome: AttemptOutcome, choices: readonly string[], agent: string): Fault | null {
  if (outcome.state !== 'done') {
    const { state, error } = outcome
    const isUnfit = state === 'failed' && Object(error).code === 'output-invalid'
    return {
      why: isUnfit ? 'invalid' : state,
      failure: recordFailure(error),
      isFinal: isFinalError(error),
    }
  }
  const wrong = whatIsWrong(outcome.value as Verdict, choices)
  if (wrong === null) return null
  const error = new Error(`the verdict of agent "${agent}" is invalid: ${wrong}`)
  return { why: 'invalid', failure: recordFailure(error), isFinal: false }
}

/** Far more than a person reads. */
const maxRationaleLength = 100_000
/** The part shown to people; it is in the ask twice, beside material that may be as large as a value. */
const shownRationale = 6_000

function whatIsWrong({ choice, rationale }: Verdict, choices: readonly string[]): string | null {
  if (!choices.includes(choice)) return `choice must be one of ${choices.join(', ')}`
  return rationale.length > maxRationaleLength
    ? `rationale must have at most ${maxRationaleLength} characters; it has ${rationale.length}`
    : null
}

/** Returns the stored ask, whatever the code says now. */
function asAsked(payload: AskPayload): AskSpec {
  return { key: null, to: [], due: null, history: { last: 0 }, payload, check: undefined }
}

/** The decision that a person made, as the log has it, with the agent's rationale and confidence. */
export function decidedByPerson(
  { answer, by, madeBy, actedBy, at }: AnswerPayload,
  ask: AskPayload,
): DecisionPayload {
  const { why, usage, choice, rationale, confidence } = ask.judged as Judged
  return {
    choice: answer.choice ?? '',
    source: 'person',
    why,
    rationale: answer.comment ?? '',
    by,
    ...(madeBy === undefined ? {} : { madeBy }),
    ...(actedBy === undefined ? {} : { actedBy }),
    at,
    usage,
    judged: {
      ...(choice === undefined ? {} : { choice }),
      rationale,
      ...(confidence === undefined ? {} : { confidence }),
    },
  }
}

/** What people are told of the agent that could not decide. */
function describeJudged(agent: string, { why, choice, rationale, confidence }: Judged): object {
  const leaning = choice === undefined ? '' : `, leaning to ${showValue(choice)}`
  const sure = confidence === undefined ? '' : `, confidence ${confidence}`
  return { title: `Assessment of ${agent} (${why}${leaning}${sure})`, body: rationale }
}
