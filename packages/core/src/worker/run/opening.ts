import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Pending } from '../../kernel/operation.ts'

/**
 * Many operations on their way to begin, in slices. What comes into the log meanwhile is held until all have begun:
 * the procedure then finds what it would have found if they had begun at once.
 */
export class Opening {
  readonly #pending: readonly Pending<ProcedureOperation>[]
  #begun = 0
  readonly #events: LogEvent[] = []
  #from = 0
  /** The next slice is on its way. */
  isScheduled = false

  constructor(pending: readonly Pending<ProcedureOperation>[]) {
    this.#pending = pending
  }

  /** Operations that have not begun. */
  get left(): number {
    return this.#pending.length - this.#begun
  }

  get isDone(): boolean {
    return this.left === 0
  }

  /** The next ones to begin. */
  take(max: number): readonly Pending<ProcedureOperation>[] {
    const taken = this.#pending.slice(this.#begun, this.#begun + max)
    this.#begun += taken.length
    return taken
  }

  /** Keeps events, which are in the log from `seq` on, for later. */
  hold(events: readonly LogEvent[], seq: number): void {
    if (this.#events.length === 0) this.#from = seq
    for (const event of events) this.#events.push(event)
  }

  /** What was held, and where in the log it begins. */
  get held(): { readonly events: readonly LogEvent[]; readonly from: number } {
    return { events: this.#events, from: this.#from }
  }
}
