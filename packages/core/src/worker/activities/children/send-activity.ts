import type { SendOperation } from '../../../authoring/operations.ts'
import type { SignalContent } from '../../../authoring/signal/arguments.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode } from '../../../events/payload.ts'
import type { Pending } from '../../../kernel/operation.ts'
import { cancelKey } from '../../../ports/codes.ts'
import type { RefusedWhy } from '../../../ports/store/log.ts'
import type { OutgoingMessage } from '../../../ports/store/mail.ts'
import type { EndState } from '../../../ports/store/runs.ts'
import type { Activity, ActivityContext, Busy } from '../activity.ts'
import { Absence } from './absence.ts'
import { AwaitedWork } from './awaited-work.ts'
import { untilTaken } from './held.ts'

/** Sends a signal to another run, or cancels it: its result and the message are one commit. */
export class SendActivity implements Activity {
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<SendOperation>
  readonly #work: AwaitedWork
  readonly #absence: Absence
  /** The run that gets it. */
  #run: string

  constructor(context: ActivityContext, pending: Pending<SendOperation>) {
    this.#context = context
    this.#pending = pending
    this.#run = pending.operation.run
    this.#work = new AwaitedWork(context, pending)
    this.#absence = new Absence(context)
  }

  get busy(): Busy {
    return this.#work.busy
  }
  get dueAt(): number | null {
    return this.#absence.dueAt
  }

  begin(): void {
    const run = this.#context.others.address(this.#pending.operation.run, true)
    if (!(run instanceof Promise)) return this.#sendTo(run)
    this.#work.await(run, (known) => this.#sendTo(known))
  }

  #sendTo(run: string): void {
    this.#run = run
    const { name, message } = this.#pending.operation
    if (message.do === 'cancel')
      return this.#send({
        run,
        kind: 'cancel',
        name: '',
        key: cancelKey,
        by: null,
        payload: message.payload,
        must: true,
      })
    const send = ({ key, by, payload }: SignalContent): void =>
      this.#send({ run, kind: 'signal', name, key, by, payload, must: true })
    let content: SignalContent | Promise<SignalContent>
    try {
      content = this.#context.others.readSignal(message.schema, (decode(message.args) ?? []) as unknown[])
    } catch (error) {
      return this.#work.fail(error)
    }
    if (!(content instanceof Promise)) return send(content)
    this.#work.await(content, send)
  }

  onDue(): void {
    this.#absence.end()
    this.begin()
  }
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {
    this.#work.end()
    this.#absence.end()
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
    const { message } = this.#pending.operation
    const run = this.#run
    // There is nothing left to cancel.
    if (why === 'ended' && message.do === 'cancel')
      return this.#context.record({ type: 'settled', pending: this.#pending })
    if (why === 'held') return this.#work.await(untilTaken(this.#context.clock), () => this.begin())
    if (why === 'missing' && this.#absence.begin(run)) return this.#context.lookAgain()
    if (why === 'missing') return this.#work.fail(new PawlError('run-not-found', { run }))
    if (why !== 'ended')
      return this.#work.fail(new PawlError('run-quarantined', { run, reason: 'it takes no message' }))
    this.#work.await(this.#context.others.find(run), (row) => {
      // Only an ended run refuses a signal.
      const status = (row?.state ?? 'completed') as EndState
      this.#work.fail(new PawlError('run-ended', { run, status }))
    })
  }
}
