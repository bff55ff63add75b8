import type { NoticeOperation } from '../../../authoring/operations.ts'
import { digestOf } from '../../../base/digest.ts'
import { encodeRecord } from '../../../events/payload.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, ActivityContext } from '../activity.ts'
import { failIfMissing } from '../missing-feature.ts'

/** The level of the line of the logger. */
const levels = { info: 'info', warning: 'warn', error: 'error', critical: 'error' } as const

/** A notice to people: a log line, an event, and a row that the inbox and the channels read. It waits for no answer. */
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
    if (failIfMissing(this.#context, this.#pending, 'notices')) return
    const { notice } = this.#pending.operation
    const { message, ...fields } = notice
    const { severity, to } = notice
    const payload = encodeRecord(notice, 'notice')
    const { position } = this.#pending
    this.#context.logger[levels[severity]](message, { run: this.#context.runId, ...fields })
    this.#context.record({
      ...{ type: 'settled', pending: this.#pending, payload },
      effects: [
        {
          do: 'notify',
          notice: { position, digest: digestOf(payload), kind: 'notice', severity, to, payload },
        },
      ],
    })
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
