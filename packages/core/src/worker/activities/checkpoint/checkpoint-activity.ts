import { checkpointAt } from '../../../asks/checkpoints.ts'
import type { CheckpointOperation } from '../../../authoring/operations.ts'
import { encodeRecord } from '../../../events/payload.ts'
import type { CheckpointPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, ActivityContext } from '../activity.ts'
import { failIfMissing } from '../missing-feature.ts'

/** Records a checkpoint: the event and the row by which it is found are one commit. */
export class CheckpointActivity implements Activity {
  readonly busy = false
  readonly dueAt = null
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<CheckpointOperation>

  constructor(context: ActivityContext, pending: Pending<CheckpointOperation>) {
    this.#context = context
    this.#pending = pending
  }

  begin(): void {
    if (failIfMissing(this.#context, this.#pending, 'checkpoints')) return
    const { position, operation } = this.#pending
    const payload: CheckpointPayload = { id: this.#context.nameCheckpoint(position), state: operation.state }
    this.#context.record({
      type: 'settled',
      pending: this.#pending,
      payload: encodeRecord(payload, 'checkpoint'),
      effects: [{ do: 'checkpoint', checkpoint: checkpointAt(position, operation.name, operation.state) }],
    })
  }

  onDue(): void {}
  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
