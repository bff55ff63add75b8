import { PawlError } from '../../errors/pawl-error.ts'
import { childrenOf } from '../../events/children.ts'
import type { LogEvent } from '../../events/event.ts'
import { type Generation, generationIn } from '../../events/generation.ts'
import { decode } from '../../events/payload.ts'
import type { FailedPayload, RetriedChild, StartedPayload } from '../../events/payloads.ts'
import { type KnownRun, readRun, understand } from '../../ports/rows.ts'
import { isDerivedId } from '../../runs/child-id.ts'
import { cutBeforeCancel, cutBeforeFailure, hasUndone } from '../../runs/cut.ts'
import { previewRepeat, type RepeatPreview } from '../../runs/preview.ts'
import type { Connection } from '../connection.ts'
import { readLogPages } from '../log/pages.ts'
import { explainUnread } from '../unread.ts'
import { type Repetition, repeatRun } from './repeat.ts'

/** Number of children that are read at a time. */
const pageSize = 100

/**
 * Continues a run that has failed just before the failed result that ended it, as its next generation. Its children that its end has
 * cancelled continue too, and a child whose end ended it continues as well. False: the run has changed since it was read.
 * @throws PawlError 'run-rolled-back', 'run-live' (a child is still being cancelled), 'run-quarantined'
 */
export async function retryFailed(connection: Connection, row: KnownRun): Promise<boolean> {
  const { own, children } = await planRetry(connection, row)
  // Children first: the run looks for their ends once it is live. If a child has begun again meanwhile, another call does the same.
  for (const child of children)
    if (await repeatRun(connection, child)) connection.localWorker?.onRestarted(child.row.id)
  return repeatRun(connection, own)
}

/** Says what {@link retryFailed} would do. @throws as it does */
export async function previewFailed(connection: Connection, row: KnownRun): Promise<RepeatPreview> {
  const { own, children } = await planRetry(connection, row)
  return { ...previewRepeat(own.events, own.kept), children: children.map((child) => child.row.id) }
}

async function planRetry(
  connection: Connection,
  row: KnownRun,
): Promise<{ readonly own: Repetition; readonly children: readonly Repetition[] }> {
  const events = await readAll(connection, row)
  if (hasUndone(events)) throw new PawlError('run-rolled-back', { run: row.id })
  const { kept, position } = cutBeforeFailure(events)
  const plan: Repetition[] = []
  const own = { row, events, kept, isAnew: false }
  const parent = { ...own, cause: causeAt(events, position), since: row.endedAt ?? 0 }
  const children = await planChildren(connection, parent, plan)
  return { own: { ...own, children }, children: plan }
}

/** A run whose children are retried with it. */
interface RetriedParent extends Pick<Repetition, 'row' | 'events' | 'kept' | 'isAnew'> {
  /** The id of the run whose end ended it. */
  readonly cause: string | null
  /** When its end, or what ended it, began to cancel its children. */
  readonly since: number
}

/**
 * Plans the children that ended because their parent did, and the one whose end ended it. What has undone its steps begins anew.
 * Returns the children that end with their parent.
 */
async function planChildren(
  connection: Connection,
  parent: RetriedParent,
  plan: Repetition[],
): Promise<readonly RetriedChild[]> {
  const ending = childrenOf(generationOf(parent.events), parent.events)
  const heard = new Set(parent.kept.flatMap(({ kind, position }) => (kind === 'child' ? position : [])))
  const closedAt = new Map(closedBehind(parent))
  const children: RetriedChild[] = []
  for await (const row of readChildren(connection, parent.row.id)) {
    if (parent.isAnew && isReplaced(row)) continue
    const position = row.parent?.position ?? null
    const isEnding = ending.has(row.id) && (position === null || !heard.has(position))
    const since = Math.min(parent.since, closedAt.get(position) ?? parent.since)
    if (row.id !== parent.cause && !(isEnding && hasEndedSince(since, row))) continue
    const isRetried = await planChild(connection, row, since, plan)
    if (isRetried && isEnding) children.push({ id: row.id, position })
  }
  return children
}

/** Yields the children of a run, newest first. */
async function* readChildren(connection: Connection, parent: string): AsyncGenerator<KnownRun> {
  const store = await connection.store()
  const query = { procedure: null, statuses: [], tag: null, parent, limit: pageSize }
  for (let before: number | null = null; ; ) {
    const rows = await store.runs({ ...query, before })
    for (const row of rows) yield readChild(row)
    const last = rows.at(-1)
    if (rows.length < pageSize || last === undefined) return
    before = last.run
  }
}

/** Whether a parent that begins anew does not find this child: what it creates gets other ids, unless it gives them. */
function isReplaced({ id, parent }: KnownRun): boolean {
  return parent !== null && parent.position !== null && isDerivedId(id, parent.run, parent.position)
}

function generationOf(events: readonly LogEvent[]): Generation {
  const [first] = events as readonly [LogEvent]
  return generationIn(decode(first.payload) as StartedPayload, first)
}

/** When the scopes of operations were closed, by position, behind the first result that is not kept: these are open again. */
function closedBehind({
  events,
  kept,
  isAnew,
}: RetriedParent): readonly (readonly [number | null, number])[] {
  const seqs = new Set(kept.map(({ seq }) => seq))
  const cut = events.findIndex(({ type, seq }) => type === 'settled' && !seqs.has(seq))
  if (isAnew || cut === -1) return []
  return events.slice(cut).flatMap(({ type, position, at }) => (type === 'withdrawn' ? [[position, at]] : []))
}

/** Whether a child was cancelled then. If it is live again, a retry that did not reach its parent has retried it. */
function hasEndedSince(since: number, { state, cancelAt }: KnownRun): boolean {
  return cancelAt === null ? state === 'live' : cancelAt >= since
}

/** Plans a child. False: it has completed. */
async function planChild(
  connection: Connection,
  row: KnownRun,
  since: number,
  plan: Repetition[],
): Promise<boolean> {
  if (row.state === 'completed') return false
  if (row.state === 'live' && row.cancelAt === null) return true
  if (row.state === 'live') throw refuseCancelling(row)
  const events = await readAll(connection, row)
  const isAnew = hasUndone(events)
  const failure = cutBeforeFailure(events)
  const cause = isAnew ? null : causeAt(events, failure.position)
  const wasCancelled = events.some(({ type }) => type === 'cancelled')
  const kept = isAnew ? events.slice(0, 1) : wasCancelled ? cutBeforeCancel(events) : failure.kept
  // Its own failure may have ended its children before its parent ended.
  const own = { row, events, kept, isAnew }
  const parent = { ...own, cause, since: Math.min(since, row.endedAt ?? since) }
  plan.push({ ...own, children: await planChildren(connection, parent, plan) })
  return true
}

async function readAll(connection: Connection, row: KnownRun): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = []
  try {
    const store = await connection.store()
    for await (const page of readLogPages(store, connection.sha256, row)) events.push(...page)
  } catch (error) {
    throw explainUnread(row.id, `The log of run ${row.id}`, error)
  }
  return events
}

function readChild(row: Parameters<typeof readRun>[0]): KnownRun {
  try {
    return understand(() => readRun(row))
  } catch (error) {
    throw explainUnread(row.id, `Run ${row.id}`, error)
  }
}

/** Returns the id of the run whose failure or cancel the result at a position is. */
function causeAt(events: readonly LogEvent[], position: number | null): string | null {
  const result = events.find((event) => event.type === 'settled' && event.position === position)
  if (result === undefined || !result.failed) return null
  const { code, details } = decode(result.payload) as FailedPayload
  return code === 'run-failed' || code === 'run-cancelled' ? (details as { readonly run: string }).run : null
}

function refuseCancelling({ id, mark, parent }: KnownRun): PawlError {
  return new PawlError(
    'run-live',
    { run: id, status: mark === 'none' ? 'running' : mark },
    {
      what: `Run ${parent?.run} cannot be retried while its child ${id} is being cancelled.`,
      next: 'It was not retried.',
      remedy: 'Retry it once the child has ended.',
    },
  )
}
