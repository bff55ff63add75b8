import { dueAt, type TimerOperation } from '../../../authoring/operations.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, ActivityContext } from '../activity.ts'

/** A sleep. It needs no event until it fires: its due time follows from the turn in which it was issued. */
export class TimerActivity implements Activity {
  readonly busy = false
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #context: ActivityContext
  readonly #pending: Pending<TimerOperation>
  #dueAt: number | null = null

  constructor(context: ActivityContext, pending: Pending<TimerOperation>) {
    this.#context = context
    this.#pending = pending
  }

  get dueAt(): number | null {
    return this.#dueAt
  }

  begin(): void {
    this.#dueAt = dueAt(this.#pending.operation.due, this.#pending.issuedAt)
  }

  onDue(): void {
    this.#dueAt = null
    const tookMs = this.#context.now() - this.#pending.issuedAt
    this.#context.record({ type: 'settled', pending: this.#pending, tookMs, strict: this })
  }

  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
