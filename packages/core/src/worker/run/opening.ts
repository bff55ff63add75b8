import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Pending } from '../../kernel/operation.ts'

/**
 * Starts many operations in slices. Events that are written meanwhile are held until all have started: the procedure then
 * sees the same as if they had started at once.
 */
export class Opening {
  readonly #pending: readonly Pending<ProcedureOperation>[]
  #begun = 0
  readonly #events: LogEvent[] = []
  #from = 0
  /** Whether the next slice is scheduled. */
  isScheduled = false

  constructor(pending: readonly Pending<ProcedureOperation>[]) {
    this.#pending = pending
  }

  /** The number of operations that have not started. */
  get left(): number {
    return this.#pending.length - this.#begun
  }

  get isDone(): boolean {
    return this.left === 0
  }

  /** Returns the next operations to start. */
  take(max: number): readonly Pending<ProcedureOperation>[] {
    const taken = this.#pending.slice(this.#begun, this.#begun + max)
    this.#begun += taken.length
    return taken
  }

  /** Holds events, which are in the log from `seq` on. */
  hold(events: readonly LogEvent[], seq: number): void {
    if (this.#events.length === 0) this.#from = seq
    for (const event of events) this.#events.push(event)
  }

  /** The held events, and their first number in the log. */
  get held(): { readonly events: readonly LogEvent[]; readonly from: number } {
    return { events: this.#events, from: this.#from }
  }
}
