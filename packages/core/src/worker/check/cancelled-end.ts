import { type FailureRecord, failureOf } from '../../errors/failure.ts'
import type { LogEvent, OperationKind } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'

/** What the engine itself records of operations when it ends a cancelled run. */
const ofAsks: readonly (OperationKind | null)[] = [
  ...(['hitl_approval', 'hitl_input', 'hitl_select', 'hitl_review', 'hitl_escalation'] as const),
  'ail_decision',
]

/**
 * Finds the end of a cancelled run that says nothing of its code: behind the cancel, the log has nothing that the code did. The run
 * may have ended without its code, such as before its first turn, or, in earlier versions, as it returned `ctx.continueAs()`.
 */
export class CancelledEnd {
  #isCancelled = false
  #hasReacted = false

  /** Returns the events that the code has to agree with. */
  withoutIt(page: readonly LogEvent[]): readonly LogEvent[] {
    for (const event of page) {
      if (event.type === 'ended') return this.#isSilent(event) ? page.filter((one) => one !== event) : page
      if (event.type === 'cancelled') this.#isCancelled = true
      else if (this.#isCancelled && !isOfEngine(event)) this.#hasReacted = true
    }
    return page
  }

  #isSilent({ failed, payload }: LogEvent): boolean {
    if (!this.#isCancelled || this.#hasReacted || !failed) return false
    return failureOf(decode(payload) as FailureRecord).code === 'cancelled'
  }
}

function isOfEngine({ type, kind }: LogEvent): boolean {
  return type === 'withdrawn' || (type === 'settled' && ofAsks.includes(kind))
}
