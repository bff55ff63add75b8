import type { NoticeOperation } from '../../../authoring/operations.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, ActivityContext } from '../activity.ts'

/** A notice to people: a log line and an event. It waits for no answer. */
export class NoticeActivity implements Activity {
  readonly busy = false
  readonly dueAt = null
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<NoticeOperation>

  constructor(context: ActivityContext, pending: Pending<NoticeOperation>) {
    this.#context = context
    this.#pending = pending
  }

  begin(): void {
    const { message, fields, payload } = this.#pending.operation
    this.#context.logger.info(message, { run: this.#context.runId, ...fields })
    this.#context.record({ type: 'settled', pending: this.#pending, payload })
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
