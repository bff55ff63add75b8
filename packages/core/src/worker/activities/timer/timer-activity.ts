import { dueAt, type TimerOperation } from '../../../authoring/operations.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Activity, Workplace } from '../activity.ts'

/** A sleep. It needs no event until it fires: its deadline follows from the turn it was issued in. */
export class TimerActivity implements Activity {
  readonly busy = false
  readonly isOpenAsk = false
  readonly topics: readonly string[] = []
  readonly #place: Workplace
  readonly #pending: Pending<TimerOperation>
  #dueAt: number | null = null

  constructor(place: Workplace, pending: Pending<TimerOperation>) {
    this.#place = place
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
    const tookMs = this.#place.now() - this.#pending.issuedAt
    this.#place.record({ type: 'settled', pending: this.#pending, tookMs, strict: this })
  }

  onMessage(): void {}
  onRecorded(): void {}
  stop(): void {}
}
