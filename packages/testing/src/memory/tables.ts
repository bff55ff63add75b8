import type {
  AskOrder,
  AskQuery,
  AskRow,
  AskStatus,
  Claimant,
  Claimed,
  LogEvent,
  Mark,
  Message,
  NewAsk,
  RunKey,
  RunQuery,
  RunRow,
  RunState,
  WorkerKey,
} from '@pawl/core/storage'

/** What all connections of one memory store share. */
export interface Tables {
  readonly workers: Map<WorkerKey, WorkerRecord>
  readonly runs: Map<string, RunRecord>
  readonly runsByKey: Map<RunKey, RunRecord>
  /** Every connection that wants hints. */
  readonly watchers: Map<object, Set<() => void>>
}

export interface WorkerRecord {
  readonly worker: WorkerKey
  readonly leaseMs: number
  beatAt: number
  isDead: boolean
}

export interface RunRecord {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly createdAt: number
  readonly tags: readonly string[]
  readonly startedBy: string | null
  readonly events: LogEvent[]
  readonly messages: MessageRecord[]
  readonly asks: Map<number, AskRecord>
  version: number | null
  worker: WorkerKey | null
  wakeAt: number | null
  epoch: number
  mail: number
  state: RunState
  mark: Mark
  tries: number
  link: Uint8Array
  reason: Uint8Array | null
  endedAt: number | null
  info: Uint8Array | null
}

export interface MessageRecord extends Omit<Message, 'payload'> {
  readonly key: string | null
  isUsed: boolean
  payload: Uint8Array | null
}

export interface AskRecord extends Omit<NewAsk, 'answered'> {
  readonly openedAt: number
  status: AskStatus
  closedAt: number | null
  answeredBy: string | null
  answer: Uint8Array | null
}

export function makeTables(): Tables {
  return { workers: new Map(), runs: new Map(), runsByKey: new Map(), watchers: new Map() }
}

export function isDue(run: RunRecord, now: number): boolean {
  return run.worker === null && run.wakeAt !== null && run.wakeAt <= now
}

/** The version the claimant would run it in; undefined if it cannot execute it. */
export function chooseVersion(run: RunRecord, { procedures }: Claimant): number | undefined {
  const versions = procedures.find(({ name }) => name === run.procedure)?.versions ?? []
  if (run.version !== null) return versions.includes(run.version) ? run.version : undefined
  return versions.length > 0 ? Math.max(...versions) : undefined
}

export function showClaimed(run: RunRecord, version: number): Claimed {
  const { id, procedure, epoch, mail, tries, mark, link } = run
  return { run: run.run, id, procedure, version, epoch, head: run.events.length, mail, tries, mark, link }
}

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
  const { status, to, run, procedure, kind, overdue, now } = filter
  const isLate = isOverdue(row, now)
  return (
    row.status === status &&
    (to === null || row.to.includes(to) || (isLate && row.escalateTo.includes(to))) &&
    (run === null || row.run === run) &&
    (procedure === null || row.procedure === procedure) &&
    (kind === null || row.kind === kind) &&
    (overdue === null || isLate === overdue)
  )
}

export function orderOf(row: AskRow, now: number): AskOrder {
  const { urgency, dueAt, openedAt, runKey, position } = row
  return { overdue: isOverdue(row, now), urgency, dueAt, openedAt, run: runKey, position }
}

/** The most urgent first. */
export function compareOrder(a: AskOrder, b: AskOrder): number {
  return (
    Number(b.overdue) - Number(a.overdue) ||
    b.urgency - a.urgency ||
    (a.dueAt === b.dueAt ? 0 : (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity)) ||
    a.openedAt - b.openedAt ||
    a.run - b.run ||
    a.position - b.position
  )
}

function isOverdue(row: AskRow, now: number): boolean {
  return row.dueAt !== null && row.dueAt <= now
}
