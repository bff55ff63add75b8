import { failureOf } from '../../errors/failure.ts'
import { type LogEvent, noPosition } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { FailedPayload, WaitingPayload } from '../../events/payloads.ts'
import { type KnownRun, understand } from '../../ports/rows.ts'
import { infoOf } from '../views/run.ts'
import type { ExecutionLog } from '../views/views.ts'
import { answerResult, operationViews } from './operation-views.ts'

type Entry = ExecutionLog['execution_log'][number]

/**
 * The view of a log by position. What waits without an event of its own (a sleep, a receive) is open as well.
 * @throws PayloadCorrupt, RowCorrupt, WrittenLater, and whatever reading the pages throws
 */
export async function toExecutionLog(
  row: KnownRun,
  pages: AsyncIterable<readonly LogEvent[]>,
): Promise<ExecutionLog> {
  const entries = new Map<number, Entry>()
  for await (const page of pages) for (const event of page) understand(() => addEvent(entries, event))
  if (row.state === 'live')
    for (const waiting of infoOf(row).waiting)
      if (!entries.has(waiting.position))
        entries.set(
          waiting.position,
          understand(() => waitingEntry(waiting)),
        )
  const execution_log = [...entries.values()].sort((a, b) => a.position - b.position)
  return {
    procedure_id: row.id,
    execution_log,
    replay_index: execution_log.filter(({ result }) => result !== null).length,
  }
}

function addEvent(entries: Map<number, Entry>, event: LogEvent): void {
  if (event.position === noPosition) return
  const before = entries.get(event.position)
  if (event.type === 'asked') entries.set(event.position, openEntry(event, event.at))
  if (event.type === 'attempted') entries.set(event.position, before ?? openEntry(event, event.at))
  if (event.type === 'withdrawn' && before !== undefined)
    entries.set(event.position, withdrawnEntry(before, event))
  if (event.type === 'settled') entries.set(event.position, settledEntry(event))
}

function openEntry({ position, kind, name }: LogEvent, at: number): Entry {
  return {
    position,
    type: kind ?? '',
    name,
    status: 'open',
    result: null,
    timestamp: new Date(at).toISOString(),
    duration_ms: 0,
  }
}

function waitingEntry({ position, kind, name, since }: WaitingPayload): Entry {
  return {
    position,
    type: kind,
    name,
    status: 'open',
    result: null,
    timestamp: new Date(since).toISOString(),
    duration_ms: 0,
  }
}

function withdrawnEntry(before: Entry, { at }: LogEvent): Entry {
  const timestamp = new Date(at).toISOString()
  return {
    ...before,
    status: 'withdrawn',
    result: {},
    timestamp,
    duration_ms: at - Date.parse(before.timestamp),
  }
}

function settledEntry(event: LogEvent): Entry {
  return {
    position: event.position,
    type: event.kind ?? '',
    name: event.name,
    status: event.failed ? 'failed' : 'done',
    result: resultOf(event),
    timestamp: new Date(event.at).toISOString(),
    duration_ms: event.tookMs ?? 0,
  }
}

function resultOf(event: LogEvent): unknown {
  const payload = decode(event.payload)
  if (event.failed) return failedResult(event, payload as FailedPayload)
  return event.kind === null ? {} : operationViews[event.kind].resultOf(payload, event)
}

/** With what it cost, and with the answer that was refused. */
function failedResult(event: LogEvent, failed: FailedPayload): unknown {
  const { usage, answer } = failed
  return {
    error: failureOf(failed),
    ...(usage === undefined ? {} : { usage }),
    ...(answer === undefined ? {} : answerResult(event, answer)),
  }
}
