import type { NoticeOperation } from '../../../authoring/operations.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, Workplace } from '../activity.ts'

/** A notice to people: a line of the logger and an entry of the log. Nobody is waited for. */
export class NoticeActivity implements Activity {
  readonly busy = false
  readonly dueAt = null
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #place: Workplace
  readonly #pending: Pending<NoticeOperation>

  constructor(place: Workplace, pending: Pending<NoticeOperation>) {
    this.#place = place
    this.#pending = pending
  }

  begin(): void {
    const { message, fields, payload } = this.#pending.operation
    this.#place.logger.info(message, { run: this.#place.runId, ...fields })
    this.#place.record({ type: 'settled', pending: this.#pending, payload })
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
