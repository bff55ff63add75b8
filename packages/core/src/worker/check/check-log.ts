import type { AskSpec, ProcedureOperation } from '../../authoring/operations.ts'
import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { isEqual } from '../../base/equal.ts'
import { isBug } from '../../errors/bug.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { AskPayload } from '../../events/payloads.ts'
import { allowGrace } from '../../host/drain.ts'
import type { Decision } from '../../kernel/decision.ts'
import type { Execution } from '../../kernel/execution.ts'
import { createExecution } from '../run/create-execution.ts'
import { diagnoseBug, diagnoseDifference, diagnoseForeignAwait } from '../run/diagnose.ts'
import type { Replayed } from '../run/find-call-site.ts'
import { LogIndex } from '../run/log-index.ts'
import { ReadFailed } from '../run/log-reader.ts'
import { damagedBy, quarantinedFor, type Reason, unfitInput, unreadFor } from '../run/park-with-error.ts'
import { deliverPage, type LogSource } from '../run/replay-log.ts'
import { readStart } from '../run/start.ts'
import type { ProgramServices } from '../services.ts'

/** A log to be replayed with the code of a procedure. */
export interface CheckedLog {
  readonly id: string
  readonly definition: ProcedureDefinition
  readonly log: LogSource
}

/** Whether the code matches the log; a reason if the run would be parked. */
export type LogVerdict = 'same' | 'text-only' | Reason

/**
 * Replays a log to its end, and writes nothing. No step runs, and `ctx.log` is silent.
 * @throws the error of a store that does not answer
 */
export async function checkLog(services: ProgramServices, checked: CheckedLog): Promise<LogVerdict> {
  try {
    return await replayAndCompare(services, checked)
  } catch (error) {
    if (error instanceof ReadFailed) throw error.cause
    return damagedBy(checked.id, error, 'its log')
  }
}

async function replayAndCompare(
  services: ProgramServices,
  { id, definition, log }: CheckedLog,
): Promise<LogVerdict> {
  const index = new LogIndex()
  let replay: { readonly run: Replayed; readonly execution: Execution<ProcedureOperation> } | null = null
  for await (const page of log.pages()) {
    if (replay === null) {
      const [started, second] = page as readonly [LogEvent, LogEvent?]
      const start = await readStart(definition, started, second)
      if ('issues' in start) return unfitInput(id, start)
      const parts = { isReplaying: () => true, isLoaded: () => false, onForeign: () => {} }
      const execution = createExecution({ services, runId: id, start, ...parts })
      replay = { run: { id, start, log }, execution }
    }
    index.add(page)
    await deliverPage(replay.execution, page, log)
  }
  if (replay === null) return quarantinedFor(id, 'its log is empty')
  const { run, execution } = replay
  if (execution.needsGrace) await new Promise<void>((resolve) => allowGrace(resolve))
  const parksBugs = index.cancelled === null && (definition.bugs ?? services.bugs) === 'park'
  const reason = await diagnose(services, run, execution.decide(), parksBugs)
  return reason ?? (index.openAsks.some((asked) => isReworded(execution, asked)) ? 'text-only' : 'same')
}

/** Returns why the run would be parked; null if it would not. */
async function diagnose(
  services: ProgramServices,
  run: Replayed,
  decision: Decision<ProcedureOperation>,
  parksBugs: boolean,
): Promise<Reason | null> {
  switch (decision.state) {
    case 'waiting':
    case 'completed':
      return null
    case 'failed':
      return parksBugs && isBug(decision.error)
        ? diagnoseBug(services, run, { error: decision.error, position: null })
        : null
    case 'nondeterminism':
      return diagnoseDifference(services, run, decision, parksBugs)
    case 'foreign-await':
      return diagnoseForeignAwait(services, run, decision)
    case 'unreadable':
      return unreadFor(run.id, `the result at position ${decision.position}`, decision.error)
    case 'damaged':
      return quarantinedFor(run.id, decision.what)
  }
}

/** Whether the code would now ask an open question differently. */
function isReworded({ pending }: Execution<ProcedureOperation>, asked: LogEvent): boolean {
  const spec = askOf(pending.get(asked.position)?.operation)
  if (spec === undefined) return false
  return !isEqual(wordingOf(decode(asked.payload) as AskPayload), wordingOf(spec.payload))
}

function askOf(operation: ProcedureOperation | undefined): AskSpec | undefined {
  if (operation === undefined) return undefined
  if ('ask' in operation) return operation.ask
  return 'fallback' in operation && operation.fallback.do === 'ask' ? operation.fallback.ask : undefined
}

/** What the code says of an ask, without what the worker adds when it is asked. */
function wordingOf({ history: _, dueAt: __, judged: ___, silence, ...worded }: AskPayload): object {
  // A default is stored as the schema has made it.
  return { ...worded, silence: silence.do === 'default' ? silence.do : silence }
}
