import type { ReplyOperation } from '../../../authoring/operations.ts'
import { issuesOf } from '../../../base/issues.ts'
import { recordFailure } from '../../../errors/failure.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { encodeAround, encodeRecord } from '../../../events/payload.ts'
import type { RepliedPayload, ReplyPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Validation } from '../../../schemas/schema.ts'
import type { Activity, ActivityContext, Busy } from '../activity.ts'
import { AwaitedWork } from '../children/awaited-work.ts'
import { replyEffect } from './reply.ts'

/** Answers an update: the record of the reply, and what its caller finds, are one commit. */
export class ReplyActivity implements Activity {
  readonly isOpenAsk = false
  readonly dueAt = null
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<ReplyOperation>
  readonly #work: AwaitedWork

  constructor(context: ActivityContext, pending: Pending<ReplyOperation>) {
    this.#context = context
    this.#pending = pending
    this.#work = new AwaitedWork(context, pending)
  }

  get busy(): Busy {
    return this.#work.busy
  }

  begin(): void {
    const { name, outcome } = this.#pending.operation
    if ('failure' in outcome) return this.#reply(outcome)
    const checked = this.#context.checkUpdate(name, 'output', outcome.value)
    if (checked instanceof Promise) this.#work.await(checked, (late) => this.#reply(readChecked(late)))
    else this.#reply(readChecked(checked))
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {
    this.#work.end()
  }

  #reply(reply: ReplyPayload): void {
    const { n } = this.#pending.operation
    const replied: RepliedPayload = { n, ...reply }
    this.#context.record({
      type: 'settled',
      pending: this.#pending,
      payload: encodeRecord(replied, 'reply'),
      effects: [replyEffect(n, reply)],
    })
  }
}

/** A reply that cannot be recorded refuses its update. */
function readChecked(checked: Validation): ReplyPayload {
  try {
    if (!checked.ok) throw new PawlError('output-invalid', issuesOf(checked))
    encodeAround({ value: checked.value }, checked.value, 'reply')
    return { value: checked.value }
  } catch (error) {
    return { failure: recordFailure(error) }
  }
}
