import { closesAtOf, readAskPayload, urgencyOf } from '../../asks/ask.ts'
import { askSlotIn } from '../../asks/askings.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { AnswerPayload, AskPayload, StartedPayload, TimedOutPayload } from '../../events/payloads.ts'
import { type KnownRun, readAsk, understand } from '../../ports/rows.ts'
import type { AskRow } from '../../ports/store/asks.ts'
import { findResult } from '../../runs/cut.ts'
import type { Connection } from '../connection.ts'
import { knownRun } from '../find-run.ts'
import { readLogPages } from '../log/pages.ts'
import { explainUnread } from '../unread.ts'

/** A run with the events of its present generation. */
export interface LoggedRun {
  readonly row: KnownRun
  readonly events: readonly LogEvent[]
}

/** The question of an answer, as a row, even if the run has none: a fork has copied the answer. */
export interface Question {
  readonly row: AskRow
  readonly asked: AskPayload
}

/**
 * Finds the question that the result at a position answers. A log has it beside the answer. A log of an earlier version may lack it, or
 * who may answer it: then the row of the ask says it, in the run, or in the run that it was forked from.
 * Null: the question is lost, as that run was deleted or has changed since.
 * @throws PawlError 'run-quarantined'
 */
export async function findQuestion(
  connection: Connection,
  { row, events }: LoggedRun,
  position: number,
): Promise<Question | null> {
  const settled = events[findResult(events, position)] as LogEvent
  const asked = events.find((event) => event.type === 'asked' && event.position === position)
  const payload = asked === undefined ? null : readAskPayload(asked.payload as Uint8Array)
  if (asked !== undefined && payload?.to !== undefined)
    return { row: composeRow(row, { asked, settled, payload }, askSlotIn(events, position)), asked: payload }
  const found = await findRow(connection, { row, events }, settled, new Set())
  if (found === null) return null
  const { run: runKey, id: run, startedBy } = row
  const known = understand(() => readAsk(found))
  return { row: { ...known, runKey, run, startedBy }, asked: readAskPayload(known.payload) }
}

/** Finds the row of a question in a run, or in the run that has copied its answer. `seen`: the runs that were looked at. */
async function findRow(
  connection: Connection,
  { row, events }: LoggedRun,
  settled: LogEvent,
  seen: Set<number>,
): Promise<AskRow | null> {
  const store = await connection.store()
  const own = await store.asks.findByRunKey(row.run, askSlotIn(events, settled.position))
  if (own !== null) return own
  const [first] = events as readonly [LogEvent]
  const { forkedFrom, fork } = decode(first.payload) as StartedPayload
  const origin = forkedFrom ?? fork
  const original = origin === undefined ? null : await store.runs.find(origin.run)
  if (original === null || seen.has(original.run)) return null
  seen.add(original.run)
  const from = knownRun(original)
  const logged = { row: from, events: await readLog(connection, from) }
  return logged.events.some((event) => isSame(event, settled))
    ? findRow(connection, logged, settled, seen)
    : null
}

async function readLog(connection: Connection, row: KnownRun): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = []
  try {
    const store = await connection.store()
    for await (const page of readLogPages(store, connection.sha256, row)) events.push(...page)
  } catch (error) {
    throw explainUnread(row.id, `The log of run ${row.id}`, error)
  }
  return events
}

/** Whether a result was copied from another, or edited by the copy. */
function isSame(a: LogEvent, b: LogEvent): boolean {
  return (['type', 'position', 'turn', 'kind', 'name', 'nth', 'tookMs', 'at'] as const).every(
    (field) => a[field] === b[field],
  )
}

interface Answered {
  readonly asked: LogEvent
  readonly settled: LogEvent
  readonly payload: AskPayload
}

function composeRow(
  { run: runKey, id: run, procedure, startedBy }: KnownRun,
  { asked, settled, payload }: Answered,
  slot: number,
): AskRow {
  const { to = [], escalateTo = [], dueAt = null } = payload
  return {
    ...{ run, runKey, procedure, startedBy, position: slot, kind: payload.kind, key: null },
    ...{ urgency: urgencyOf(payload), to, escalateTo, dueAt, closesAt: closesAtOf(payload) },
    ...{ payload: asked.payload as Uint8Array, openedAt: asked.at, ...closingOf(settled) },
  }
}

function closingOf({
  at,
  failed,
  payload,
}: LogEvent): Pick<AskRow, 'status' | 'closedAt' | 'answeredBy' | 'answer'> {
  const silent = { status: 'timed-out', closedAt: at, answeredBy: null, answer: null } as const
  if (failed) return silent
  const result = decode(payload) as AnswerPayload | TimedOutPayload
  if ('timedOut' in result) return silent
  return { status: 'answered', closedAt: result.at, answeredBy: result.by, answer: payload }
}
