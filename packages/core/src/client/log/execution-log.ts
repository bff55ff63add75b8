import { failureOf } from '../../errors/failure.ts'
import { consentedAction } from '../../events/consent.ts'
import { type LogEvent, noPosition } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { AttemptedPayload, FailedPayload, WaitingPayload } from '../../events/payloads.ts'
import { type KnownRun, understand } from '../../ports/rows.ts'
import { answerResult, operationViews } from '../views/operation-views.ts'
import { infoOf } from '../views/run.ts'
import type { ExecutionLog, FailedAttempt } from '../views/views.ts'
import type { LogRange } from './select.ts'

type Entry = ExecutionLog['execution_log'][number]

/**
 * Builds the execution log, one entry per operation. A pending operation without an event (a sleep, a receive) is
 * included.
 * @throws PayloadCorrupt, RowCorrupt, WrittenLater, and any error of reading the pages
 */
export async function toExecutionLog(
  row: KnownRun,
  pages: AsyncIterable<readonly LogEvent[]> | Iterable<readonly LogEvent[]>,
  range: LogRange = {},
): Promise<Omit<ExecutionLog, 'generation'>> {
  const entries = new Map<number, Entry>()
  for await (const page of pages) for (const event of page) understand(() => addEvent(entries, event))
  for (const waiting of waitingOf(row))
    if (!entries.has(waiting.position))
      entries.set(
        waiting.position,
        understand(() => waitingEntry(waiting)),
      )
  const sorted = [...entries.values()].sort((a, b) => a.position - b.position)
  const execution_log = cutRange(sorted, range)
  return {
    procedure_id: row.id,
    execution_log,
    replay_index: execution_log.filter(({ result }) => result !== null).length,
  }
}

/** Returns the pending operations of a live run. */
export function waitingOf(row: KnownRun): readonly WaitingPayload[] {
  return row.state === 'live' ? infoOf(row).waiting : []
}

function cutRange(entries: readonly Entry[], { before, after, limit }: LogRange): readonly Entry[] {
  const wanted = entries.filter(
    ({ position }) => position < (before ?? Number.POSITIVE_INFINITY) && position > (after ?? noPosition),
  )
  if (limit === undefined) return wanted
  return after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit)
}

function addEvent(entries: Map<number, Entry>, event: LogEvent): void {
  const before = entries.get(event.position)
  const entry = event.type === 'withdrawn' && before === undefined ? undefined : entryAfter(before, event)
  if (entry !== undefined) entries.set(event.position, entry)
}

/** Applies an event to the entry of its operation; undefined for an event of the run itself. */
export function entryAfter(before: Entry | undefined, event: LogEvent): Entry | undefined {
  if (event.position === noPosition) return undefined
  switch (event.type) {
    case 'asked':
    case 'created':
      return openEntry(event, event.at)
    case 'attempted':
      return attemptedEntry(before ?? openEntry(event, event.at), event)
    case 'withdrawn':
      return withdrawnEntry(before ?? openEntry(event, event.at), event)
    case 'settled':
      return { ...settledEntry(event), ...attemptsOf(before) }
    case 'started':
    case 'accepted':
    case 'marked':
    case 'cancelled':
    case 'ended':
      return undefined
  }
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

/** The number of attempts that an entry keeps: an operation may be retried for ever. */
const maxAttempts = 20

function attemptedEntry(before: Entry, event: LogEvent): Entry {
  const { attempt, failure, delayMs } = decode(event.payload) as AttemptedPayload
  const failed: FailedAttempt = {
    attempt,
    timestamp: new Date(event.at).toISOString(),
    duration_ms: event.tookMs ?? 0,
    error: failureOf(failure),
  }
  return {
    ...before,
    attempts: [...(before.attempts ?? []), failed].slice(-maxAttempts),
    next_attempt_at: new Date(event.at + delayMs).toISOString(),
  }
}

function attemptsOf(entry: Entry | undefined): Pick<Entry, 'attempts'> {
  return entry?.attempts === undefined ? {} : { attempts: entry.attempts }
}

function withdrawnEntry({ next_attempt_at: _, ...before }: Entry, { at }: LogEvent): Entry {
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
    ...consentOf(event),
  }
}

function consentOf({ kind, name }: LogEvent): Pick<Entry, 'consent_to'> {
  const action = kind === null ? null : consentedAction(kind, name)
  return action === null ? {} : { consent_to: action }
}

function resultOf(event: LogEvent): unknown {
  const payload = decode(event.payload)
  if (event.failed) return failedResult(event, payload as FailedPayload)
  return event.kind === null ? {} : operationViews[event.kind].resultOf(payload, event)
}

/** Adds the usage, what an agent was given, the answer that was rejected, and the form of an answer if there was none in time. */
function failedResult(event: LogEvent, failed: FailedPayload): unknown {
  const { usage, answer, input } = failed
  return {
    error: failureOf(failed),
    ...(usage === undefined ? {} : { usage }),
    ...(input === undefined ? {} : { input }),
    ...(answer === undefined ? {} : answerResult(event, answer)),
    ...(failed.code === 'ask-timed-out' ? answerResult(event, { timedOut: true }) : {}),
  }
}
