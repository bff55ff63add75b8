import type { AskQuery, AskRow, RunQuery, RunRow } from '@pawl/core/storage'
import { isDue } from './ownership.ts'
import type { AskRecord, RunRecord } from './tables.ts'

export function showRun(run: RunRecord): RunRow {
  const {
    id,
    procedure,
    version,
    state,
    mark,
    wakeAt,
    link,
    mail,
    tries,
    createdAt,
    endedAt,
    tags,
    startedBy,
    info,
  } = run
  return {
    run: run.run,
    id,
    procedure,
    version,
    state,
    mark,
    reason: mark === 'none' ? null : run.reason,
    cause: mark === 'none' ? null : run.cause,
    tries,
    owned: run.worker !== null,
    wakeAt,
    head: run.events.length,
    link,
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

export function showAsk(ask: AskRecord): AskRow {
  const { id, run, procedure, startedBy } = ask.run
  return { ...ask, run: id, runKey: run, procedure, startedBy }
}

export function isAsked(ask: AskRecord, filter: AskQuery): boolean {
  const { status, to, run, procedure, kind, overdue, lapsed, now } = filter
  const isLate = ask.dueAt !== null && ask.dueAt <= now
  const isLapsed = ask.closesAt !== null && ask.closesAt <= now
  return (
    ask.status === status &&
    (to === null || ask.to.includes(to) || (isLate && ask.escalateTo.includes(to))) &&
    (run === null || ask.run.id === run) &&
    (procedure === null || ask.run.procedure === procedure) &&
    (kind === null || ask.kind === kind) &&
    (overdue === null || isLate === overdue) &&
    (lapsed === null || isLapsed === lapsed)
  )
}
