import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import { drain } from '../../host/drain.ts'
import type { Execution } from '../../kernel/execution.ts'

/** A log that can be read from its beginning, as often as needed. */
export interface LogSource {
  /** The number of events. */
  readonly head: number
  /** Yields the verified events, page by page. */
  pages(): AsyncIterable<readonly LogEvent[]>
}

/** Delivers a page of a log to an execution. `compared`: the events that its code has to agree with. Resolves when all queues are drained. */
export function deliverPage(
  execution: Execution<ProcedureOperation>,
  page: readonly LogEvent[],
  { head }: LogSource,
  compared: readonly LogEvent[] = page,
): Promise<void> {
  const [first] = page as readonly [LogEvent]
  execution.enqueue(compared, first.seq + page.length < head)
  return new Promise((resolve) => drain(execution, resolve))
}
