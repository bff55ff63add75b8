import { closesAtOf, subjectOf } from '../../../asks/ask.ts'
import {
  type AskOperation,
  type AskSpec,
  type DecideOperation,
  isSpan,
} from '../../../authoring/operations.ts'
import { isEqual } from '../../../base/equal.ts'
import { type Issues, issuesIn, issuesOf } from '../../../base/issues.ts'
import { recordFailure } from '../../../errors/failure.ts'
import type { LogEvent } from '../../../events/event.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { AnswerMessage, AnswerPayload, AskPayload, Silence } from '../../../events/payloads.ts'
import { runChecks } from '../../../host/run-schema.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { NewAsk } from '../../../ports/store/asks.ts'
import type { Effect } from '../../../ports/store/log.ts'
import type { Message } from '../../../ports/store/mail.ts'
import { topicOf } from '../../../runs/topics.ts'
import type { Validation } from '../../../schemas/schema.ts'
import {
  type Activity,
  type ActivityContext,
  type Busy,
  consume,
  type Draft,
  type StepResult,
} from '../activity.ts'
import { tryEncode } from '../try-encode.ts'
import { gatherHistory } from './history.ts'
import {
  type ComposedAsk,
  checkSilence,
  composeAsk,
  composeRow,
  findUnstorable,
  invalidDefault,
} from './prepare.ts'
import { cancelByNo, checkEarly, type Settlement, settleByInvalidAnswer, settleByTimeout } from './settle.ts'

export interface AskOptions {
  readonly context: ActivityContext
  readonly pending: Pending<AskOperation | DecideOperation>
  readonly spec: AskSpec
  /** The `asked` event, if the log has one. */
  readonly asked: LogEvent | undefined
  /** Returns the payload to record for an answer. Default: the answer itself. */
  readonly toPayload?: (answer: AnswerPayload, ask: AskPayload) => unknown
}

/**
 * An ask. It is written, without a result, in the commit that releases the run, and does not change afterwards,
 * whatever the code says later. One event settles it: an answer, or its timeout.
 */
export class AskActivity implements Activity {
  readonly #options: AskOptions
  #state: 'new' | 'preparing' | 'recorded' | 'open' | 'checking' | 'over' = 'new'
  /** The ask in the log. */
  #ask: AskPayload | null = null
  /** The ask that is being written. */
  #asked: ComposedAsk | null = null
  #dueAt: number | null = null
  /** Set if the procedure no longer waits for it: it is withdrawn, unless an answer arrived first. */
  #isClosed = false
  /** The answer that the author's schema is checking. `early`: no ask of it is in the log yet. */
  #checked: { readonly answer: AnswerPayload; readonly n: number; readonly early: boolean } | null = null

  constructor(options: AskOptions) {
    this.#options = options
    if (options.asked !== undefined) this.#opened(decode(options.asked.payload) as AskPayload)
  }

  get busy(): Busy {
    return (this.#state === 'preparing' || this.#state === 'checking') && 'working'
  }
  get dueAt(): number | null {
    if (this.#state !== 'open' && this.#state !== 'recorded') return null
    return this.#isClosed ? 0 : this.#dueAt
  }
  get topics(): readonly string[] {
    const { spec } = this.#options
    if (this.#state === 'open') return [topicOf('answer', String(this.#slot))]
    return this.#state === 'recorded' && spec.key !== null ? [topicOf('early', spec.key)] : []
  }
  /** Undefined if the code now asks something different from the stored ask. */
  get check(): AskSpec['check'] {
    return this.#isAskedAnew ? undefined : this.#options.spec.check
  }
  get #isAskedAnew(): boolean {
    return this.#ask !== null && !isEqual(this.#ask.schema, this.#options.spec.payload.schema)
  }
  /** The number under which the ask is stored. */
  get #slot(): number {
    const { context, pending } = this.#options
    return context.askSlotAt(pending.position)
  }
  get isOpenAsk(): boolean {
    return this.#state === 'recorded' || this.#state === 'open' || this.#state === 'checking'
  }

  begin(): void {
    // Restarted after a rejected draft: either it was not asked yet, or only its timeout was rejected.
    if (this.#ask !== null) return this.#opened(this.#ask)
    this.#state = 'preparing'
    const silence = checkSilence(this.#options.spec)
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
    if (this.#isClosed) return this.#withdraw()
    const { context, pending } = this.#options
    this.#state = 'over'
    const ask = this.#ask as AskPayload
    const settlement = settleByTimeout(ask, context.nameAsk(pending.position))
    context.record({
      type: 'settled',
      pending,
      tookMs: context.now() - pending.issuedAt,
      ...settlement,
      ...this.#cancelling(ask, settlement, null),
      effects: [{ do: 'close-ask', position: this.#slot, status: 'timed-out' }],
      strict: this,
    })
  }

  onRecorded(event: LogEvent): void {
    if (event.type === 'asked') this.#opened(decode(event.payload) as AskPayload)
  }

  stop(): void {
    this.#state = 'over'
  }
  close(): boolean {
    this.#isClosed = this.#ask !== null
    if (this.#state === 'checking' && this.#checked !== null) {
      const { answer, n, early } = this.#checked
      // It was accepted, so it is recorded; no code reads it, so the check is not awaited.
      if (early) {
        this.#state = 'over'
        this.#options.context.giveBack(n)
      } else this.#settle(answer, n, undefined)
    }
    return this.#isClosed
  }

  #withdraw(): void {
    const { context, pending } = this.#options
    this.#state = 'over'
    const effects = [{ do: 'close-ask', position: this.#slot, status: 'withdrawn' }] as const
    context.record({ type: 'withdrawn', pending, effects, strict: this })
  }

  // ── opening

  #prepare(silence: Validation<Silence>, history: readonly StepResult[]): void {
    if (this.#state !== 'preparing') return
    const { spec, context } = this.#options
    if (!silence.ok) return this.#refuse(invalidDefault(spec, silence))
    const unstorable = findUnstorable(silence.value)
    if (unstorable !== null) return this.#refuse(unstorable)
    const { escalateTo, starters } = context
    const parts = { silence: silence.value, history, escalateTo, starters, now: context.now() }
    const ask = composeAsk(spec, parts)
    const early = spec.key === null ? undefined : context.take([topicOf('early', spec.key)])
    if (early === undefined) this.#open(ask)
    else this.#answerEarly(ask, early)
  }

  /** Handles a misuse: no ask is opened. */
  #refuse(error: unknown): void {
    const { pending, context } = this.#options
    this.#state = 'over'
    if (context.parkFor(pending.position, error)) return
    const payload = encodeRecord(recordFailure(error), 'failure')
    context.record({ type: 'settled', pending, failed: true, tookMs: 0, payload })
    context.lookAgain()
  }

  /** Handles an answer by key that arrived before the ask was opened. */
  #askWith(early: Message): void {
    const { context } = this.#options
    context.retract(this)
    this.#answerEarly(this.#asked as ComposedAsk, early)
  }

  #answerEarly(ask: ComposedAsk, early: Message): void {
    const checked = checkEarly(ask, early)
    if (checked.ok) this.#accept(checked.value, early.n, ask)
    else this.#dropEarly(ask, early.n, checked)
  }

  #dropEarly(ask: ComposedAsk, n: number, refused: Issues): void {
    const { context } = this.#options
    context.logger.warn(`Early answer to "${ask.message}" is invalid and was discarded`, {
      run: context.runId,
      ...issuesOf(refused),
    })
    this.#open(ask, n)
  }

  /** Opens the ask. `used`: a message that this event also records. */
  #open(ask: ComposedAsk, used?: number): void {
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
      // An answer by key that arrived meanwhile must be seen before the ask is opened. And a timeout starts when the ask is
      // stored: the time until then does not count.
      ...(spec.key === null && !isSpan(spec.due) ? {} : { strict: this }),
    })
    context.lookAgain()
  }

  #opened(ask: AskPayload): void {
    this.#state = 'open'
    this.#ask = ask
    // An ask without a timeout needs no wake-up.
    this.#dueAt = closesAtOf(ask)
  }

  #openAsk(ask: ComposedAsk, payload: Uint8Array, answered: NewAsk['answered']): Effect {
    const { spec, context } = this.#options
    const row = composeRow(ask, { position: this.#slot, spec, payload, answered })
    return { do: 'open-ask', ask: context.generation === 1 ? row : { ...row, replaces: true } }
  }

  // ── settling

  /** Accepts an answer. `early`: the ask to open and close at once, if the answer arrived first. */
  #accept(answer: AnswerPayload, n: number, early?: ComposedAsk): void {
    this.#state = 'checking'
    const { spec, context } = this.#options
    const subject = subjectOf((early ?? (this.#ask as AskPayload)).kind, answer)
    if (spec.check === undefined || subject === null || this.#isClosed) return this.#settle(answer, n, early)
    const { key, value } = subject
    const { check } = spec
    const checked = runChecks(() => check(value))
    const conclude = (result: Awaited<typeof checked>): void => {
      if (this.#state !== 'checking') return
      if (result.ok)
        this.#settle(answer, n, early, { ...answer, answer: { ...answer.answer, [key]: result.value } })
      else if (early !== undefined) this.#dropEarly(early, n, issuesIn(key, result))
      else if (this.#isAskedAnew) this.#settle(answer, n, undefined)
      else this.#record(answer, n, settleByInvalidAnswer(answer, issuesIn(key, result)), undefined)
    }
    if (!(checked instanceof Promise)) return conclude(checked)
    this.#checked = { answer, n, early: early !== undefined }
    void checked.then((result) => context.guard(() => conclude(result)))
  }

  /** Records an answer. `made`: the output of the schema. */
  #settle(
    answer: AnswerPayload,
    n: number,
    early: ComposedAsk | undefined,
    made: AnswerPayload = answer,
  ): void {
    const { toPayload } = this.#options
    const ask = early ?? (this.#ask as AskPayload)
    const payload = tryEncode(toPayload?.(made, ask) ?? made, 'answer')
    if (payload.ok) this.#record(made, n, { failed: false, payload: payload.value }, early)
    else if (early === undefined) this.#record(answer, n, settleByInvalidAnswer(answer, payload), undefined)
    else this.#dropEarly(early, n, payload)
  }

  #record(answer: AnswerPayload, n: number, settlement: Settlement, early: ComposedAsk | undefined): void {
    const { context, pending } = this.#options
    this.#state = 'over'
    const strict = early === undefined ? {} : { strict: this }
    if (early !== undefined) {
      // Not in the log yet: if this draft is rejected, the ask is prepared again.
      const answered = { by: answer.by, at: answer.at, payload: encodeRecord(answer, 'answer') }
      const payload = encodeRecord(early, 'ask')
      const effects = [this.#openAsk(early, payload, answered)]
      context.record({ type: 'asked', pending, payload, effects, ...strict })
    }
    const tookMs = answer.at - pending.issuedAt
    const cancels = this.#cancelling(early ?? (this.#ask as AskPayload), settlement, answer)
    const effects = [consume(n)]
    context.record({ type: 'settled', pending, tookMs, ...settlement, ...cancels, effects, ...strict })
    context.lookAgain()
  }

  /** Cancels the run at a no, if the ask says so and the procedure still waits for it. */
  #cancelling(ask: AskPayload, settlement: Settlement, answer: AnswerPayload | null): Pick<Draft, 'cancels'> {
    if (this.#options.spec.cancelsRun !== true || this.#isClosed) return {}
    const cancels = cancelByNo(ask, settlement, answer)
    return cancels === undefined ? {} : { cancels }
  }
}
