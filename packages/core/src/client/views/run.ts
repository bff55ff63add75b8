import type { AskIds } from '../../asks/ask-id.ts'
import { docsPage } from '../../base/docs.ts'
import type { Actor } from '../../base/people.ts'
import type { RunStatus } from '../../base/words.ts'
import type { Failure } from '../../errors/error-details.ts'
import { type FailureRecord, failureOf, type MarkRecord, recordFailure } from '../../errors/failure.ts'
import { RowCorrupt } from '../../events/codec.ts'
import { type LogEvent, noPosition, type OperationKind } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import type { ProgressRecord, RollbackRecord, RunInfo, WaitingPayload } from '../../events/payloads.ts'
import { findFrames } from '../../host/call-site.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { RunParent, RunRow } from '../../ports/store/runs.ts'
import type { Connection } from '../connection.ts'
import { unreadError } from '../unread.ts'
import { operationViews } from './operation-views.ts'
import type { ProgressView, RollbackView, RunParentView, RunView, Stuck, Waiting } from './views.ts'

/** Shows a run as unreadable, with the reason and without any of its data. */
export function showUnread(connection: Connection, row: RunRow, why: Error): RunView {
  const { id, procedure } = row
  connection.warnOnce(
    `Run "${id}" cannot be read and is shown as quarantined: ${why.message}. See ${docsPage('errors/run-quarantined')}`,
  )
  return {
    ...{ id, procedure, version: row.version ?? 0, status: 'quarantined' },
    generation: 1,
    forkedFrom: undefined,
    startedAt: new Date(row.createdAt),
    endedAt: undefined,
    waitingFor: [],
    failure: failureOf(recordFailure(unreadError(id, `Run ${id}`, why))),
    stuck: undefined,
    tags: [],
    startedBy: undefined,
    parent: undefined,
    progress: undefined,
    rollback: undefined,
    cancelRequestedAt: undefined,
    cancelReason: undefined,
    cancelledBy: undefined,
    retriedBy: undefined,
    leftOver: { signals: [], operations: [] },
  }
}

/**
 * Returns the public view of a run at `now`, by the store's clock.
 * @param ended the event that ended the run, if it was read and verified
 */
export function toRunView(askIds: AskIds, row: KnownRun, now: number, ended: LogEvent | undefined): RunView {
  const status = statusOf(row, now)
  const info = infoOf(row)
  return {
    id: row.id,
    procedure: row.procedure,
    version: row.version ?? 0,
    status,
    generation: info.generation ?? 1,
    forkedFrom: info.forkedFrom,
    startedAt: new Date(row.createdAt),
    endedAt: toDate(row.endedAt),
    // `waiting` was stored when the run was parked; it is outdated while a worker executes the run.
    waitingFor:
      status === 'waiting' ? info.waiting.map((waiting) => toWaitingView(askIds, row, waiting)) : [],
    failure: findFailure(
      row,
      status,
      ended === undefined || status === 'cancelled' ? info.failure : failureIn(ended),
    ),
    stuck:
      status === 'stuck' && row.reason !== null ? showStuck(decode(row.reason) as MarkRecord) : undefined,
    tags: row.tags,
    startedBy: (row.startedBy ?? undefined) as Actor | undefined,
    parent: row.parent === null ? undefined : showParent(row.parent),
    progress: info.progress && showProgress(info.progress),
    rollback: info.rollback && showRollback(info.rollback),
    cancelRequestedAt: toDate(row.cancelAt ?? info.cancelled?.at ?? null),
    cancelReason: info.cancelled?.reason,
    cancelledBy: info.cancelled?.by as Actor | undefined,
    retriedBy: info.retriedBy as Actor | undefined,
    leftOver: { signals: info.leftOver?.signals ?? [], operations: info.leftOver?.operations ?? [] },
  }
}

function showProgress({ done, total, message }: ProgressRecord): ProgressView {
  return { done, total, message }
}

function showParent({ run, position }: RunParent): RunParentView {
  return { run, position: position ?? undefined }
}

function showRollback({ reason, undone, failed, skipped }: RollbackRecord): RollbackView {
  return {
    reason: reason ?? '',
    undone,
    failed: failed.map(({ name, failure }) => ({ name, failure: failureOf(failure) })),
    skipped,
  }
}

/** Returns whether the run is due and unowned, so that the next worker with its code claims it. */
export function isDue({ state, owned, wakeAt }: RunRow, now: number): boolean {
  return state === 'live' && !owned && wakeAt !== null && wakeAt <= now
}

/** Returns the position of the next operation, as far as it is known; `tail` is the end of the log. */
export function nextPositionAfter(row: RunRow, tail: readonly { readonly position: number }[]): number {
  const positions = [...tail, ...infoOf(row).waiting].map(({ position }) => position)
  return Math.max(noPosition, ...positions) + 1
}

/** Returns the failure of an ended run, or the reason for the mark of a parked one. */
function findFailure(
  { reason }: KnownRun,
  status: RunStatus,
  ofEnd: FailureRecord | undefined,
): Failure | undefined {
  const isLeft = status === 'stuck' || status === 'quarantined'
  const record = isLeft && reason !== null ? (decode(reason) as FailureRecord) : ofEnd
  if (record === undefined) return undefined
  const stack = findFrames(record)
  return stack === undefined ? failureOf(record) : { ...failureOf(record), stack }
}

function showStuck({ code = '', details, at, triedAt }: MarkRecord): Stuck {
  const { position, recorded, asked } = (details ?? {}) as { readonly [detail: string]: unknown }
  const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  return {
    code,
    position: typeof position === 'number' ? position : undefined,
    recorded: textOf(recorded),
    asked: textOf(asked),
    at: at === '' ? undefined : at,
    triedAt: triedAt === undefined ? undefined : new Date(triedAt),
  }
}

function failureIn({ failed, payload }: LogEvent): FailureRecord | undefined {
  return failed ? (decode(payload) as FailureRecord) : undefined
}

/** @throws PayloadCorrupt, RowCorrupt, WrittenLater */
export function infoOf({ info }: RunRow): RunInfo {
  if (info === null) return { waiting: [] }
  const decoded = decode(info) as Partial<RunInfo> | null
  if (!Array.isArray(decoded?.waiting)) throw new RowCorrupt('its info does not list its pending operations')
  return decoded as RunInfo
}

function toDate(time: number | null): Date | undefined {
  return time === null ? undefined : new Date(time)
}

function statusOf({ state, mark, owned, wakeAt }: KnownRun, now: number): RunStatus {
  if (state !== 'live') return state
  if (mark !== 'none') return mark
  return owned || (wakeAt !== null && wakeAt <= now) ? 'running' : 'waiting'
}

function toWaitingView(
  askIds: AskIds,
  { id, run }: KnownRun,
  { position, kind, name, asks, slot = position, until }: WaitingPayload,
): Waiting {
  const what = asks ? 'ask' : waitsFor(kind)
  return {
    ...{ kind: what, name, position },
    ask: asks ? askIds.idOf({ runKey: run, run: id, position: slot }) : undefined,
    until: until === null ? undefined : new Date(until),
  }
}

/** Maps a kind of operation, which a later version may have added. */
function waitsFor(kind: string): Waiting['kind'] {
  return isOperationKind(kind) ? operationViews[kind].waitsFor : 'step'
}

function isOperationKind(kind: string): kind is OperationKind {
  return Object.hasOwn(operationViews, kind)
}
