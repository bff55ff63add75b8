import { PawlError } from '../../errors/pawl-error.ts'
import { childrenOf, createdBeforeRetry, reasonOfEnd } from '../../events/children.ts'
import type { LogEvent } from '../../events/event.ts'
import { type Generation, generationIn } from '../../events/generation.ts'
import { decode } from '../../events/payload.ts'
import type { FailedPayload, RetriedChild, StartedPayload } from '../../events/payloads.ts'
import { type KnownRun, readRun, understand } from '../../ports/rows.ts'
import type { NewGeneration } from '../../ports/store/runs.ts'
import { cutBeforeCancel, cutBeforeFailure, hasUndone } from '../../runs/cut.ts'
import { previewRepeat, type RepeatPreview } from '../../runs/preview.ts'
import type { Connection } from '../connection.ts'
import { readLogPages } from '../log/pages.ts'
import { explainUnread, hasOutrun } from '../unread.ts'
import { infoOf } from '../views/run.ts'
import { composeRepetition, type Repetition } from './repeat.ts'

/** Number of children that are read at a time. */
const pageSize = 100

/**
 * Continues a run that has failed just before the failed result that ended it, as its next generation. Its children that its end has
 * cancelled continue too, and a child whose end ended it continues as well: all in one transaction, so that no child is live
 * below a run that stays failed, and none is brought back once another call has retried the run. False: one of them has changed
 * since it was read, and nothing was done.
 * @throws PawlError 'run-rolled-back', 'run-live' (a child is still being cancelled), 'run-ended' (a child was deleted), 'run-quarantined'
 */
export async function retryFailed(
  connection: Connection,
  row: KnownRun,
  by: string | undefined,
): Promise<boolean> {
  const planned = await planRetry(connection, row)
  if (planned === null) return false
  const store = await connection.store()
  const now = await store.now()
  const family = [planned.own, ...planned.children]
  const generations: NewGeneration[] = []
  for (const one of family) generations.push(await composeRepetition(connection, store, one, { now, by }))
  if (!(await store.runs.restart(generations))) return false
  for (const { row } of family) connection.localWorker?.onRestarted(row.id)
  return true
}

/** Says what {@link retryFailed} would do. Null: one of the runs has changed since it was read. @throws as it does */
export async function previewFailed(connection: Connection, row: KnownRun): Promise<RepeatPreview | null> {
  const planned = await planRetry(connection, row)
  if (planned === null) return null
  const { own, children } = planned
  return { ...previewRepeat(own.events, own.kept), children: children.map((child) => child.row.id) }
}

interface Planned {
  readonly own: Repetition
  readonly children: readonly Repetition[]
}

async function planRetry(connection: Connection, row: KnownRun): Promise<Planned | null> {
  try {
    const events = await readAll(connection, row)
    if (hasUndone(events)) throw new PawlError('run-rolled-back', { run: row.id })
    const { kept, position } = cutBeforeFailure(events)
    const parent = { row, events, kept, cause: causeAt(events, position), since: row.endedAt ?? 0 }
    const plan = new FamilyPlan(connection, row.id)
    const children = await plan.addChildren(parent)
    return { own: { row, events, kept, children }, children: plan.retried }
  } catch (error) {
    if (error instanceof HasChanged) return null
    throw error
  }
}

/** A run has changed since it was read, or was deleted. */
class HasChanged extends Error {}

/** A run whose children are retried with it. */
interface RetriedParent extends Pick<Repetition, 'row' | 'events' | 'kept'> {
  /** The id of the run whose end ended it. */
  readonly cause: string | null
  /** When its end, or what ended it, began to cancel its children. */
  readonly since: number
}

/** The runs below a failed one that are retried with it. */
class FamilyPlan {
  readonly retried: Repetition[] = []
  readonly #connection: Connection
  readonly #root: string

  constructor(connection: Connection, root: string) {
    this.#connection = connection
    this.#root = root
  }

  /**
   * Adds the children that ended because their parent did, and the one whose end ended it. Returns all children that end with their
   * parent, and whose end it has not heard. It may find a child again that is not retried.
   */
  async addChildren(parent: RetriedParent): Promise<readonly RetriedChild[]> {
    const ending = childrenOf(generationOf(parent.events), parent.events)
    const heard = new Set(parent.kept.flatMap(({ kind, position }) => (kind === 'child' ? position : [])))
    const closedAt = new Map(closedBehind(parent))
    const children: RetriedChild[] = []
    const before = createdBeforeRetry(generationOf(parent.events), parent.events, parent.kept)
    const needed = new Set(before.map(({ id }) => id))
    for await (const row of readChildren(this.#connection, parent.row.id)) {
      needed.delete(row.id)
      if (row.state === 'completed') continue
      const position = row.parent?.position ?? null
      const isEnding = ending.has(row.id) && (position === null || !heard.has(position))
      const since = Math.min(parent.since, closedAt.get(position) ?? parent.since)
      const hasEndedWith = isEnding && (hasEndedSince(since, row) || wasCancelledBy(parent.row.id, row))
      if (row.id === parent.cause || hasEndedWith) await this.#add(row, since)
      if (isEnding) children.push({ id: row.id, position })
    }
    for (const child of needed) await this.#refuseDeleted(parent.row, child)
    return children
  }

  /** @throws PawlError 'run-ended': the operation that has created the child would create another one, which repeats what it did */
  async #refuseDeleted({ state }: KnownRun, child: string): Promise<void> {
    const store = await this.#connection.store()
    // One that a caller has begun again is no child any more.
    if ((await store.runs.find(child)) !== null) return
    throw new PawlError('run-ended', { run: this.#root, status: state === 'live' ? 'failed' : state, child })
  }

  /** Adds a child that has not completed, with its own children. One that is live again stays as it is. */
  async #add(row: KnownRun, since: number): Promise<void> {
    if (row.state === 'live' && row.cancelAt === null) return
    if (row.state === 'live') throw refuseCancelling(row)
    const events = await readAll(this.#connection, row)
    if (hasUndone(events)) throw new PawlError('run-rolled-back', { run: this.#root, child: row.id })
    const failure = cutBeforeFailure(events)
    const wasCancelled = events.some(({ type }) => type === 'cancelled')
    const kept = wasCancelled ? cutBeforeCancel(events) : failure.kept
    // Its own failure may have ended its children before its parent ended.
    const cause = causeAt(events, failure.position)
    const parent = { row, events, kept, cause, since: Math.min(since, row.endedAt ?? since) }
    this.retried.push({ row, events, kept, children: await this.addChildren(parent) })
  }
}

/** Yields the children of a run, newest first. */
async function* readChildren(connection: Connection, parent: string): AsyncGenerator<KnownRun> {
  const store = await connection.store()
  const query = { procedure: null, statuses: [], tag: null, parent, failedUndo: false, limit: pageSize }
  for (let before: number | null = null; ; ) {
    const rows = await store.runs.list({ ...query, before })
    for (const row of rows) yield readChild(row)
    const last = rows.at(-1)
    if (rows.length < pageSize || last === undefined) return
    before = last.run
  }
}

function generationOf(events: readonly LogEvent[]): Generation {
  const [first] = events as readonly [LogEvent]
  return generationIn(decode(first.payload) as StartedPayload, first)
}

/** When the scopes of operations were closed, by position, behind the first result that is not kept: these are open again. */
function closedBehind({ events, kept }: RetriedParent): readonly (readonly [number | null, number])[] {
  const seqs = new Set(kept.map(({ seq }) => seq))
  const cut = events.findIndex(({ type, seq }) => type === 'settled' && !seqs.has(seq))
  if (cut === -1) return []
  return events.slice(cut).flatMap(({ type, position, at }) => (type === 'withdrawn' ? [[position, at]] : []))
}

/** Whether a child was cancelled then. If it is live again, a retry that did not reach its parent has retried it. */
function hasEndedSince(since: number, { state, cancelAt }: KnownRun): boolean {
  return cancelAt === null ? state === 'live' : cancelAt >= since
}

/** Whether the end of its parent has cancelled a child. Many children are cancelled one part after the other, before that end is recorded. */
function wasCancelledBy(parent: string, row: KnownRun): boolean {
  try {
    return understand(() => infoOf(row)).cancelled?.reason === reasonOfEnd(parent)
  } catch (error) {
    throw explainUnread(row.id, `Run ${row.id}`, error)
  }
}

/** @throws HasChanged, PawlError 'run-quarantined' */
async function readAll(connection: Connection, row: KnownRun): Promise<readonly LogEvent[]> {
  const store = await connection.store()
  const events: LogEvent[] = []
  try {
    for await (const page of readLogPages(store, connection.sha256, row)) events.push(...page)
  } catch (error) {
    if (await hasOutrun(store, row, error)) throw new HasChanged()
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
