import { PawlError } from '../errors/pawl-error.ts'
import type { EventType, LogEvent } from '../events/event.ts'
import { decode, encode } from '../events/payload.ts'
import { readStarted } from '../events/read-started.ts'
import { understand } from '../ports/rows.ts'
import { forkFamilyOf } from '../runs/fork-family.ts'
import type { AnsweredBy, As, ResumeResolution } from './answering.ts'
import { resume } from './checkpoints/resume.ts'
import type { Connection } from './connection.ts'
import { type FeedEvent, type FollowOptions, followFeed, newestOf } from './feed.ts'
import { findRun } from './find-run.ts'
import { listWorkers, readHealth, type StoreHealth, type WorkerView } from './health.ts'
import { readGiver } from './inbox/answer.ts'
import { answerOpen, checkOpen } from './inbox/answer-open.ts'
import { type FoundAsk, findShown } from './inbox/find.ts'
import { AnswerRules } from './inbox/rules.ts'
import { entryAfter } from './log/execution-log.ts'
import { firstOfBlock, readLogPages } from './log/pages.ts'
import type { Mailer } from './mailer.ts'
import { observeCall } from './observed.ts'
import { listStates, type StateView } from './runs/state.ts'
import type { Client } from './types.ts'
import { explainUnread } from './unread.ts'
import { showAsk } from './views/ask.ts'
import { readViews } from './views/read.ts'
import type { Answer, Ask, ExecutionLog, RunView } from './views/views.ts'

/** An event of a run, as a stream shows it. */
export interface RunEvent {
  readonly seq: number
  readonly at: Date
  readonly type: EventType
  /** The execution log entry of its operation after this event; undefined for an event of the run itself. */
  readonly entry: ExecutionLog['execution_log'][number] | undefined
}

interface Connected {
  readonly connection: Connection
  readonly mailer: Mailer
}

const connections = new WeakMap<Client['inbox'], Connected>()

/** Registers the connection of a client for `readEvents`. */
export function noteConnection({ inbox }: Pick<Client, 'inbox'>, connected: Connected): void {
  connections.set(inbox, connected)
}

/** Returns the rules by which the plug-ins of an engine, such as channels, accept answers. A client that was wrapped has none. */
export function answerRulesOf({ inbox }: Pick<Client, 'inbox'>): AnswerRules {
  return connections.get(inbox)?.connection.answerRules ?? new AnswerRules(true)
}

/**
 * Yields what happens in the store of a client: asks, and runs that end, get stuck or are quarantined.
 * @throws PawlError 'engine-stopped'
 */
export function readFeed(
  { inbox }: Pick<Client, 'inbox'>,
  options: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  return followFeed(connectionOf(inbox), options)
}

/** Returns the number of the newest event in the feed; 0 if there is none. */
export function newestOfFeed({ inbox }: Pick<Client, 'inbox'>): Promise<number> {
  return newestOf(connectionOf(inbox))
}

/** Reads an ask as `inbox.get` does, without its deliveries; null if there is none. What follows for it needs no second look. */
export async function findAskOf({ inbox }: Pick<Client, 'inbox'>, id: string): Promise<FoundAsk | null> {
  return findShown(connectionOf(inbox), id)
}

/** Answers an ask that was found. @throws PawlError what `inbox.answer` throws for an ask by its id */
export async function answerFound(
  { inbox }: Pick<Client, 'inbox'>,
  { ask, row }: FoundAsk,
  answer: Answer,
  as: As,
): Promise<void> {
  const { connection, mailer } = connectedOf(inbox)
  const giver = readGiver(as)
  const given = decode(encode(answer, 'answer'))
  return observeCall(
    connection,
    { verb: 'answer', run: ask.run, procedure: ask.procedure, by: giver.by },
    () => answerOpen(connection, mailer, row, given, giver),
    () => ({}),
  )
}

/**
 * Checks an answer to an ask that was found as `inbox.answer` does, and stores nothing.
 * @throws PawlError what `inbox.answer` throws for an ask by its id
 */
export async function checkFound(
  { inbox }: Pick<Client, 'inbox'>,
  { row }: FoundAsk,
  answer: Answer,
  as: As,
): Promise<void> {
  // As an answer is copied: one that is too large is refused before any schema sees it.
  const given = decode(encode(answer, 'answer'))
  await checkOpen(connectionOf(inbox), row, given, readGiver(as))
}

/**
 * Answers an ask as `client.resume` does, if the rules of its engine let the person. They judge the ask as it is stored, whatever
 * the caller knows of it.
 * @throws PawlError 'answer-forbidden', and what `client.resume` throws
 */
export async function answerByRules(
  { inbox }: Pick<Client, 'inbox'>,
  id: string,
  resolution: ResumeResolution,
  { names = [], ...as }: AnsweredBy,
): Promise<void> {
  const { connection, mailer } = connectedOf(inbox)
  const request = { checkpoint: id, resolution }
  await resume(connection, mailer, request, as, (ask, { by, madeBy, actedBy }) => {
    const verdict = connection.answerRules.judge(ask, { as: by, madeBy, actedBy, names })
    if (verdict.ok) return
    const { what, remedy } = verdict
    throw new PawlError('answer-forbidden', { ask: ask.id }, { what, remedy })
  })
}

/** Returns the ask of a run that has this key, open or not; null if there is none yet. */
export async function askByKeyOf(
  { inbox }: Pick<Client, 'inbox'>,
  run: string,
  key: string,
): Promise<Ask | null> {
  const connection = connectionOf(inbox)
  const store = await connection.begin()
  const row = await store.asks.findByKey(run, key)
  return row === null ? null : showAsk(connection, row, await store.now())
}

/** Returns the values that a run exposes, sorted by name. @throws PawlError 'run-not-found', 'run-quarantined' */
export function readStates({ inbox }: Pick<Client, 'inbox'>, run: string): Promise<readonly StateView[]> {
  return listStates(connectionOf(inbox), run, null)
}

/** Returns the live workers of the store of a client, the oldest first. */
export function readWorkers({ inbox }: Pick<Client, 'inbox'>): Promise<readonly WorkerView[]> {
  return listWorkers(connectionOf(inbox))
}

/** Returns figures of the store of a client, for monitoring. */
export function readStoreHealth({ inbox }: Pick<Client, 'inbox'>): Promise<StoreHealth> {
  return readHealth(connectionOf(inbox))
}

function connectionOf(inbox: Client['inbox']): Connection {
  return connectedOf(inbox).connection
}

function connectedOf(inbox: Client['inbox']): Connected {
  const connected = connections.get(inbox)
  if (connected === undefined) throw new TypeError('This client has no connection to a store.')
  return connected
}

/**
 * Reads the verified events of a run with a `seq` above `after`, and the run as it was just before. `newest` is the `seq` of its
 * last event then; -1 if there is none.
 * The cost depends on the number of new events, not on the length of the log.
 * @throws PawlError 'run-not-found', 'run-quarantined'
 */
export async function readEvents(
  { inbox }: Pick<Client, 'inbox'>,
  id: string,
  after: number,
  limit: number,
): Promise<{ readonly run: RunView; readonly newest: number; readonly events: readonly RunEvent[] }> {
  const connection = connectionOf(inbox)
  const store = await connection.store()
  const row = await findRun(connection, id)
  const [run] = await readViews(connection, [row])
  const events: RunEvent[] = []
  const newest = row.head - 1
  if (after >= newest) return { run: run as RunView, newest, events }
  try {
    const pages = readLogPages(
      store,
      connection.sha256,
      row,
      firstOfBlock(Math.max(after + 1, row.base), row.base),
    )
    for await (const page of pages) {
      for (const event of page)
        if (event.seq > after && events.length < limit) events.push(understand(() => showEvent(event)))
      if (events.length === limit) break
    }
  } catch (error) {
    throw explainUnread(id, `The log of run ${id}`, error)
  }
  return { run: run as RunView, newest, events }
}

function showEvent(event: LogEvent): RunEvent {
  const { seq, at, type } = event
  return { seq, at: new Date(at), type, entry: entryAfter(undefined, event) }
}

/** Returns who started the runs of which a run, or one above it, is a fork. */
export async function startersOfOriginals(
  { inbox }: Pick<Client, 'inbox'>,
  id: string,
): Promise<readonly string[]> {
  const connection = connectionOf(inbox)
  const row = await findRun(connection, id)
  const [started] = await (await connection.store()).log.load(row.run, row.base, row.base + 1)
  if (started === undefined) return []
  return understand(() => forkFamilyOf(id, readStarted(started))?.starters ?? [])
}
