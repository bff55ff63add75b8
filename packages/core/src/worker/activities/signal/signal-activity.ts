import { dueAt, type SignalOperation } from '../../../authoring/operations.ts'
import { issuesOf } from '../../../base/issues.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { ReceivedPayload, TimedOutPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Message } from '../../../ports/store/mail.ts'
import { topicOf } from '../../../runs/topics.ts'
import type { Validation } from '../../../schemas/schema.ts'
import { type Activity, type ActivityContext, type Busy, consume, type Draft } from '../activity.ts'
import { tryEncode } from '../try-encode.ts'

/** A receive: takes the oldest pending signal of its names, or times out. */
export class SignalActivity implements Activity {
  readonly isOpenAsk = false
  readonly #context: ActivityContext
  readonly #pending: Pending<SignalOperation>
  readonly #topics: readonly string[]
  #dueAt: number | null = null
  /** The message that is being validated. */
  #checked: Message | null = null
  #over = false

  constructor(context: ActivityContext, pending: Pending<SignalOperation>) {
    this.#context = context
    this.#pending = pending
    this.#topics = pending.operation.names.map((name) => topicOf('signal', name))
  }

  get busy(): Busy {
    return this.#checked !== null && 'working'
  }
  get topics(): readonly string[] {
    return this.#over || this.#checked !== null ? [] : this.#topics
  }
  get checkedTopic(): string | null {
    return this.#checked === null ? null : topicOf('signal', this.#checked.name)
  }
  get dueAt(): number | null {
    return this.#checked === null ? this.#dueAt : null
  }

  begin(): void {
    this.#over = false
    const { due } = this.#pending.operation
    this.#dueAt = due === null ? null : dueAt(due, this.#pending.issuedAt)
  }

  onDue(): void {
    const timedOut: TimedOutPayload = { timedOut: true }
    this.#over = true
    this.#dueAt = null
    this.#context.record({ ...this.#settled(), payload: encodeRecord(timedOut, 'timeout'), strict: this })
  }

  onMessage(message: Message): void {
    const checked = this.#context.checkSignal(message.name, decode(message.payload))
    if (!(checked instanceof Promise)) return this.#take(message, checked)
    this.#checked = message
    void checked.then((late) =>
      this.#context.guard(() => {
        this.#checked = null
        if (this.#over) return
        this.#take(message, late)
        this.#context.lookAgain()
      }),
    )
  }

  onRecorded(): void {}
  stop(): void {
    this.#over = true
  }
  close(): boolean {
    if (this.#checked !== null) this.#context.giveBack(this.#checked.n)
    return false
  }

  #settled(): Pick<Draft, 'type' | 'pending' | 'tookMs'> {
    return { type: 'settled', pending: this.#pending, tookMs: this.#context.now() - this.#pending.issuedAt }
  }

  #take({ name, n, by }: Message, checked: Validation): void {
    const received = checked.ok ? tryEncode(receivedOf(name, by, checked.value), 'signal') : checked
    if (received.ok) {
      this.#over = true
      this.#context.record({ ...this.#settled(), payload: received.value, effects: [consume(n)] })
    } else {
      this.#context.logger.warn(
        `Run "${this.#context.runId}": signal "${name}" is invalid and was discarded`,
        issuesOf(received),
      )
      this.#context.record({ type: null, pending: this.#pending, effects: [consume(n)] })
    }
  }
}

function receivedOf(name: string, by: string | null, payload: unknown): ReceivedPayload {
  return by === null ? { name, payload } : { name, by, payload }
}
