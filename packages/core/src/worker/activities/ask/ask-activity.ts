import { checkAnswer } from '../../../asks/answer-check.ts'
import { askIdOf, closesAtOf, recipientsOf, subjectOf, urgencyOf } from '../../../asks/ask.ts'
import type { Usage } from '../../../authoring/agent/agent.ts'
import {
  type AskOperation,
  type AskSpec,
  type DecideOperation,
  dueAt,
  isSpan,
} from '../../../authoring/operations.ts'
import { isEqual } from '../../../base/equal.ts'
import { type Issues, issuesIn, issuesOf, oneIssue } from '../../../base/issues.ts'
import { showValue } from '../../../base/text.ts'
import { recordFailure } from '../../../errors/failure.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import type { LogEvent } from '../../../events/event.ts'
import { decode, encode, encodeRecord } from '../../../events/payload.ts'
import type {
  AnswerMessage,
  AnswerPayload,
  AskPayload,
  FailedPayload,
  GivenAnswer,
  Silence,
  TimedOutPayload,
} from '../../../events/payloads.ts'
import { runChecks } from '../../../host/run-schema.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { NewAsk } from '../../../ports/store/asks.ts'
import type { Effect } from '../../../ports/store/commit.ts'
import type { Message } from '../../../ports/store/mail.ts'
import type { Validation } from '../../../schemas/schema.ts'
import { topicOf } from '../../run/mailbox.ts'
import {
  type Activity,
  type ActivityContext,
  type Busy,
  consume,
  type Draft,
  type StepResult,
} from '../activity.ts'
import { usageMember } from '../step/usage.ts'
import { tryEncode } from '../try-encode.ts'
import { gatherHistory, showHistory } from './history.ts'

export interface AskOptions {
  readonly context: ActivityContext
  readonly pending: Pending<AskOperation | DecideOperation>
  readonly spec: AskSpec
  /** The ask as it stands in the log, if it was asked before. */
  readonly asked: LogEvent | undefined
  /** The payload to record for an answer; by default the answer itself. */
  readonly toPayload?: (answer: AnswerPayload, ask: AskPayload) => unknown
}

/**
 * A question to people. It is written, with no result, in the commit that lets the run go; from then on it
 * stays as it was asked, whatever the code says later. One event settles it: an answer, or its time running out.
 */
export class AskActivity implements Activity {
  readonly #options: AskOptions
  #state: 'new' | 'preparing' | 'recorded' | 'open' | 'checking' | 'over' = 'new'
  /** As it stands in the log. */
  #ask: AskPayload | null = null
  /** As it is on its way into the log. */
  #asked: AskPayload | null = null
  #dueAt: number | null = null

  constructor(options: AskOptions) {
    this.#options = options
    if (options.asked !== undefined) this.#opened(decode(options.asked.payload) as AskPayload)
  }

  get busy(): Busy {
    return (this.#state === 'preparing' || this.#state === 'checking') && 'working'
  }
  get dueAt(): number | null {
    return this.#state === 'open' || this.#state === 'recorded' ? this.#dueAt : null
  }
  get topics(): readonly string[] {
    const { spec, pending } = this.#options
    if (this.#state === 'open') return [topicOf('answer', String(pending.position))]
    return this.#state === 'recorded' && spec.key !== null ? [topicOf('early', spec.key)] : []
  }
  /** Not of code that would ask for something else than what was asked for. */
  get check(): AskSpec['check'] {
    return this.#isAskedAnew ? undefined : this.#options.spec.check
  }
  get #isAskedAnew(): boolean {
    return this.#ask !== null && !isEqual(this.#ask.schema, this.#options.spec.payload.schema)
  }
  get isOpenAsk(): boolean {
    return this.#state === 'recorded' || this.#state === 'open' || this.#state === 'checking'
  }

  begin(): void {
    // Begun again after a refusal: either it was not asked yet, or only its timeout was refused.
    if (this.#ask !== null) return this.#opened(this.#ask)
    this.#state = 'preparing'
    const silence = this.#silence()
    const history = gatherHistory(this.#options.context.history, this.#options.spec.history)
    if (!(silence instanceof Promise) && !(history instanceof Promise)) return this.#prepare(silence, history)
    const { context } = this.#options
    void Promise.all([silence, history]).then(
      (both) => context.guard(() => this.#prepare(...both)),
      (error) =>
        context.guard(() => {
          throw error
        }),
    )
  }

  onMessage(message: Message): void {
    if (message.kind === 'early') return this.#askWith(message)
    const { checked, ...given } = decode(message.payload) as AnswerMessage
    const answer = { ...given, at: message.at }
    if (checked === true) this.#settle(answer, message.n, undefined)
    else this.#accept(answer, message.n)
  }

  onDue(): void {
    const ask = this.#ask as AskPayload
    const { silence } = ask
    this.#state = 'over'
    const { context, pending } = this.#options
    const draft = {
      type: 'settled',
      pending,
      tookMs: context.now() - pending.issuedAt,
      effects: [{ do: 'close-ask', position: pending.position, status: 'timed-out' }],
      strict: this,
    } satisfies Draft
    if (silence.do === 'fail') {
      const remedy = silenceRemedies[ask.kind]
      const error = new PawlError(
        'ask-timed-out',
        { ask: askIdOf(context.runId, pending.position), message: ask.message },
        remedy === undefined ? {} : { remedy },
      )
      const usage = (ask.judged?.usage ?? []) as readonly Usage[]
      const failed: FailedPayload = { ...recordFailure(error), ...usageMember(usage) }
      return context.record({ ...draft, failed: true, payload: encodeRecord(failed, 'failure') })
    }
    const timedOut: TimedOutPayload = {
      timedOut: true,
      ...(ask.kind === 'approve' ? { approved: silence.do === 'approve', params: ask.params } : {}),
      ...(ask.kind === 'review' ? { artifact: ask.artifact } : {}),
      ...(silence.do === 'default' ? { default: silence.value } : {}),
    }
    context.record({ ...draft, payload: encodeRecord(timedOut, 'timeout') })
  }

  onRecorded(event: LogEvent): void {
    if (event.type === 'asked') this.#opened(decode(event.payload) as AskPayload)
  }

  stop(): void {
    this.#state = 'over'
  }

  // ── asking

  /** What silence counts as must be what a person could have answered, and is what the schema makes of it. */
  #silence(): Validation<Silence> | Promise<Validation<Silence>> {
    const { payload, check } = this.#options.spec
    const { silence } = payload
    if (silence.do !== 'default' || payload.kind !== 'input' || check === undefined)
      return { ok: true, value: silence }
    const conclude = (checked: Validation): Validation<Silence> =>
      checked.ok ? { ok: true, value: { ...silence, value: checked.value } } : checked
    const checked = runChecks(() => check(silence.value))
    return checked instanceof Promise ? checked.then(conclude) : conclude(checked)
  }

  #prepare(silence: Validation<Silence>, history: readonly StepResult[]): void {
    if (this.#state !== 'preparing') return
    const { spec, context } = this.#options
    if (!silence.ok) return this.#refuseDefault(silence)
    const unstorable = findUnstorable(silence.value)
    if (unstorable !== null) return this.#refuse(unstorable)
    // From when it goes out, not from when the code came to it: what an outage or an agent took is nobody's silence.
    const due = spec.due === null ? null : dueAt(spec.due, context.now())
    const steps = showHistory(history, spec.payload)
    const ask: AskPayload = {
      ...spec.payload,
      silence: silence.value,
      ...(due === null ? {} : { dueAt: due }),
      ...(steps.length === 0 ? {} : { history: steps }),
    }
    const early = spec.key === null ? undefined : context.take([topicOf('early', spec.key)])
    if (early === undefined) this.#open(ask)
    else this.#answerEarly(ask, early)
  }

  #refuseDefault(refused: Issues): void {
    const { silence } = this.#options.spec.payload
    const [{ path, message } = { path: '', message: 'it does not' }] = issuesIn('default', refused).issues
    const error = new PawlError(
      'option-invalid',
      {
        option: `onTimeout.${path} of input`,
        given: showValue('value' in silence ? silence.value : undefined),
      },
      {
        what: `The option onTimeout.${path} of input does not fit the schema: ${message}.`,
        next: 'Nobody was asked.',
        remedy: 'It must be something that a person could have answered.',
      },
    )
    this.#refuse(error)
  }

  /** A misuse: nobody is asked. */
  #refuse(error: unknown): void {
    const { pending, context } = this.#options
    this.#state = 'over'
    if (context.parkFor(pending.position, error)) return
    const payload = encodeRecord(recordFailure(error), 'failure')
    context.record({ type: 'settled', pending, failed: true, tookMs: 0, payload })
    context.lookAgain()
  }

  /** An answer by its key came before the question went out. */
  #askWith(early: Message): void {
    const { context } = this.#options
    context.retract(this)
    this.#answerEarly(this.#asked as AskPayload, early)
  }

  #answerEarly(ask: AskPayload, early: Message): void {
    const { answer, by } = decode(early.payload) as GivenAnswer
    const closesAt = closesAtOf(ask)
    if (closesAt !== null && closesAt <= early.at) return this.#dropEarly(ask, early.n, cameTooLate)
    const checked = checkAnswer(ask, answer, true)
    if (!checked.ok) return this.#dropEarly(ask, early.n, checked)
    this.#accept({ answer: checked.answer, changed: checked.changed, by, at: early.at }, early.n, ask)
  }

  #dropEarly(ask: AskPayload, n: number, refused: Issues): void {
    const { context } = this.#options
    context.logger.warn(`an early answer to "${ask.message}" does not fit the question and was dropped`, {
      run: context.runId,
      ...issuesOf(refused),
    })
    this.#open(ask, n)
  }

  /** `used`: the message that this records too. */
  #open(ask: AskPayload, used?: number): void {
    this.#state = 'recorded'
    this.#asked = ask
    this.#dueAt = closesAtOf(ask)
    const { spec, context, pending } = this.#options
    const payload = encodeRecord(ask, 'ask')
    context.record({
      type: 'asked',
      pending,
      payload,
      effects: [this.#openAsk(ask, payload, null), ...(used === undefined ? [] : [consume(used)])],
      // An answer to this key that came meanwhile must be seen before the question is. And what it took until the question
      // could be written is nobody's silence: its span begins anew.
      ...(spec.key === null && !isSpan(spec.due) ? {} : { strict: this }),
    })
    context.lookAgain()
  }

  #opened(ask: AskPayload): void {
    this.#state = 'open'
    this.#ask = ask
    // An ask that stays open however long nobody answers needs nobody to wake up for it.
    this.#dueAt = closesAtOf(ask)
  }

  #openAsk(ask: AskPayload, payload: Uint8Array, answered: NewAsk['answered']): Effect {
    const { spec, context, pending } = this.#options
    const row: NewAsk = {
      position: pending.position,
      kind: ask.kind,
      key: spec.key,
      urgency: urgencyOf(ask),
      ...recipientsOf(spec.to, ask, context.escalateTo),
      dueAt: ask.dueAt ?? null,
      closesAt: closesAtOf(ask),
      payload,
      answered,
    }
    return { do: 'open-ask', ask: row }
  }

  // ── settling

  /** `early`: the ask to open and close at once, by an answer that was there before it. */
  #accept(answer: AnswerPayload, n: number, early?: AskPayload): void {
    this.#state = 'checking'
    const { spec, context } = this.#options
    const subject = subjectOf((early ?? (this.#ask as AskPayload)).kind, answer)
    if (spec.check === undefined || subject === null) return this.#settle(answer, n, early)
    const { key, value } = subject
    const { check } = spec
    const checked = runChecks(() => check(value))
    const conclude = (result: Awaited<typeof checked>): void => {
      if (this.#state !== 'checking') return
      if (result.ok)
        this.#settle(answer, n, early, { ...answer, answer: { ...answer.answer, [key]: result.value } })
      else if (early !== undefined) this.#dropEarly(early, n, issuesIn(key, result))
      else if (this.#isAskedAnew) this.#settle(answer, n, undefined)
      else this.#fail(answer, n, issuesIn(key, result))
    }
    if (checked instanceof Promise) void checked.then((result) => context.guard(() => conclude(result)))
    else conclude(checked)
  }

  /** `made`: what the schema made of the answer. */
  #settle(
    answer: AnswerPayload,
    n: number,
    early: AskPayload | undefined,
    made: AnswerPayload = answer,
  ): void {
    const { toPayload } = this.#options
    const ask = early ?? (this.#ask as AskPayload)
    const payload = tryEncode(toPayload?.(made, ask) ?? made, 'answer')
    if (payload.ok) this.#record(made, n, { failed: false, payload: payload.value }, early)
    else if (early === undefined) this.#fail(answer, n, payload)
    else this.#dropEarly(early, n, payload)
  }

  /** The schema of the code refused what the door could not check. */
  #fail(answer: AnswerPayload, n: number, refused: Issues): void {
    const error = new PawlError('answer-invalid', issuesOf(refused), tooLate)
    const failed: FailedPayload = { ...recordFailure(error), answer }
    this.#record(answer, n, { failed: true, payload: encodeRecord(failed, 'answer') }, undefined)
  }

  #record(
    answer: AnswerPayload,
    n: number,
    result: { readonly failed: boolean; readonly payload: Uint8Array },
    early: AskPayload | undefined,
  ): void {
    const { context, pending } = this.#options
    this.#state = 'over'
    const strict = early === undefined ? {} : { strict: this }
    if (early !== undefined) {
      // Not asked yet as far as the log knows: if this is refused it is prepared anew.
      const answered = { by: answer.by, at: answer.at, payload: encodeRecord(answer, 'answer') }
      const payload = encodeRecord(early, 'ask')
      const effects = [this.#openAsk(early, payload, answered)]
      context.record({ type: 'asked', pending, payload, effects, ...strict })
    }
    const tookMs = Math.max(0, answer.at - pending.issuedAt)
    context.record({ type: 'settled', pending, tookMs, ...result, effects: [consume(n)], ...strict })
    context.lookAgain()
  }
}

/** Where what silence may mean is not what it may mean for most questions. */
const silenceRemedies: { readonly [kind in AskPayload['kind']]?: string } = {
  approve:
    "Catch this error, or say what silence means with onTimeout: 'reject', 'escalate' or 'keep-waiting'.",
  decide: 'Catch this error, or leave the timeout out: a decision says nothing else of silence.',
}

/** What the schema made of the default, where it cannot be stored. */
function findUnstorable(silence: Silence): unknown {
  if (silence.do !== 'default') return null
  try {
    encode(silence.value, 'onTimeout.default of input')
    return null
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return error
  }
}

const cameTooLate = oneIssue('', 'it came when the time for it was over')

const tooLate = {
  next: 'It was accepted and is recorded; the ask is closed.',
  remedy:
    'Catch this error and ask again; to have such an answer refused while the ask is open, say more of it in JSON Schema.',
}
