import type { SendOperation } from '../../../authoring/operations.ts'
import type { SignalContent } from '../../../authoring/signal/arguments.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode } from '../../../events/payload.ts'
import type { Pending } from '../../../kernel/operation.ts'
import { cancelKey } from '../../../ports/codes.ts'
import type { RefusedWhy } from '../../../ports/store/commit.ts'
import type { OutgoingMessage } from '../../../ports/store/mail.ts'
import type { EndState } from '../../../ports/store/runs.ts'
import type { Activity, ActivityContext, Busy } from '../activity.ts'
import { failed } from './ended.ts'

/** Sends a signal to another run, or cancels it: its result and the message are one commit. */
export class SendActivity implements Activity {
  readonly isOpenAsk = false
  readonly dueAt = null
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<SendOperation>
  #isWorking = false
  #isOver = false

  constructor(context: ActivityContext, pending: Pending<SendOperation>) {
    this.#context = context
    this.#pending = pending
  }

  get busy(): Busy {
    return this.#isWorking && 'working'
  }

  begin(): void {
    const { run, name, message } = this.#pending.operation
    if (message.do === 'cancel')
      return this.#send({
        run,
        kind: 'cancel',
        name: '',
        key: cancelKey,
        payload: message.payload,
        must: true,
      })
    const send = ({ key, payload }: SignalContent): void =>
      this.#send({ run, kind: 'signal', name, key, payload, must: true })
    let content: SignalContent | Promise<SignalContent>
    try {
      content = this.#context.others.readSignal(message.schema, (decode(message.args) ?? []) as unknown[])
    } catch (error) {
      return this.#fail(error)
    }
    if (!(content instanceof Promise)) return send(content)
    this.#await(content, send)
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {
    this.#isOver = true
  }

  #send(message: OutgoingMessage): void {
    const onRefused = (why: RefusedWhy): void => this.#onRefused(why)
    this.#context.record({
      type: 'settled',
      pending: this.#pending,
      effects: [{ do: 'send', message }],
      onRefused,
    })
  }

  #onRefused(why: RefusedWhy): void {
    const { run, message } = this.#pending.operation
    // There is nothing left to cancel.
    if (why === 'ended' && message.do === 'cancel')
      return this.#context.record({ type: 'settled', pending: this.#pending })
    if (why === 'missing') return this.#fail(new PawlError('run-not-found', { run }))
    if (why !== 'ended')
      return this.#fail(new PawlError('run-quarantined', { run, reason: 'it takes no message' }))
    this.#await(this.#context.others.find(run), (row) => {
      // Only an ended run refuses a signal.
      const status = (row?.state ?? 'completed') as EndState
      this.#fail(new PawlError('run-ended', { run, status }))
    })
  }

  #await<Value>(value: Promise<Value>, then: (value: Value) => void): void {
    this.#isWorking = true
    const settle = (task: () => void): void =>
      this.#context.guard(() => {
        this.#isWorking = false
        if (!this.#isOver) task()
        this.#context.lookAgain()
      })
    value.then(
      (known) => settle(() => then(known)),
      (error: unknown) => settle(() => this.#fail(error)),
    )
  }

  #fail(error: unknown): void {
    if (!PawlError.is(error)) throw error
    this.#context.record(failed(this.#pending, error))
  }
}
