import type { AskQuery, AskRow, RunQuery, RunRow } from '@pawl/core/storage'
import { isDue } from './ownership.ts'
import type { AskRecord, RunRecord } from './tables.ts'

export function showRun(run: RunRecord): RunRow {
  const { id, procedure, version, state, mark, wakeAt, mail, createdAt, endedAt, tags, startedBy, info } = run
  return {
    run: run.run,
    id,
    procedure,
    version,
    state,
    mark,
    reason: mark === 'none' ? null : run.reason,
    owned: run.worker !== null,
    wakeAt,
    head: run.events.length,
    mail,
    createdAt,
    endedAt,
    tags,
    startedBy,
    info,
  }
}

export function isWanted(run: RunRecord, filter: RunQuery, now: number): boolean {
  const { procedure, statuses, tag, before } = filter
  return (
    (procedure === null || run.procedure === procedure) &&
    (statuses.length === 0 || statuses.includes(readStatus(run, now))) &&
    (tag === null || run.tags.includes(tag)) &&
    (before === null || run.run < before)
  )
}

function readStatus(run: RunRecord, now: number): RunQuery['statuses'][number] {
  if (run.state !== 'live') return run.state
  if (run.mark !== 'none') return run.mark
  return run.worker !== null || isDue(run, now) ? 'running' : 'waiting'
}

export function showAsk(run: RunRecord, ask: AskRecord): AskRow {
  return { ...ask, run: run.id, runKey: run.run, procedure: run.procedure, startedBy: run.startedBy }
}

export function isAsked(row: AskRow, filter: AskQuery): boolean {
  const { status, to, run, procedure, kind, overdue, lapsed, now } = filter
  const isLate = row.dueAt !== null && row.dueAt <= now
  const isLapsed = row.closesAt !== null && row.closesAt <= now
  return (
    row.status === status &&
    (to === null || row.to.includes(to) || (isLate && row.escalateTo.includes(to))) &&
    (run === null || row.run === run) &&
    (procedure === null || row.procedure === procedure) &&
    (kind === null || row.kind === kind) &&
    (overdue === null || isLate === overdue) &&
    (lapsed === null || isLapsed === lapsed)
  )
}
