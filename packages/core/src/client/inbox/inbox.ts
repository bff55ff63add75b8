import { checkAnswer } from '../../asks/answer-check.ts'
import { askIdOf, parseAskId, readAskPayload, subjectOf } from '../../asks/ask.ts'
import { compareOrder, orderOf } from '../../asks/order.ts'
import { implement } from '../../base/implement.ts'
import { issuesIn, issuesOf } from '../../base/issues.ts'
import { topics } from '../../base/notifier.ts'
import type { Actor } from '../../base/people.ts'
import { askKinds, askStatuses } from '../../base/words.ts'
import { parseDuration } from '../../checks/duration.ts'
import { checkBoolean, checkKeys, checkName, checkObject, checkOneOf, refuse } from '../../checks/options.ts'
import { checkActor, checkAudience } from '../../checks/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode, encodeAround } from '../../events/payload.ts'
import type { AnswerMessage, GivenAnswer } from '../../events/payloads.ts'
import { runChecks } from '../../host/run-schema.ts'
import type { AnswerCheck } from '../../ports/local-worker.ts'
import { isPlaced, readAsk, understand } from '../../ports/rows.ts'
import type { AskOrder, AskQuery, AskRow, Message, RunKey, StorePort } from '../../ports/store.ts'
import type { Connection } from '../connection.ts'
import { readCursor, writeCursor } from '../cursor.ts'
import { damagedError } from '../damaged.ts'
import type { Mailer } from '../mailer.ts'
import { readLimit } from '../options.ts'
import { knownRun } from '../runs/find.ts'
import type { Inbox, Page } from '../types.ts'
import { explainUnread } from '../unread.ts'
import { askStatusOf, showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'

/** The asks of all runs: to be listed, waited for, and answered. */
export function createInbox(connection: Connection, mailer: Mailer): Inbox {
  return implement<Inbox>({
    list: (filter?: unknown) => listAsks(connection, filter),
    get: (ask: unknown) => getAsk(connection, ask),
    next: (filter?: unknown) => nextAsk(connection, filter),
    answer: (address: unknown, answer: unknown, as: unknown) =>
      answerAsk(connection, mailer, address, answer, as),
  })
}

// ── looking

async function listAsks(connection: Connection, given: unknown): Promise<Page<Ask>> {
  const filter = checkObject('filter of inbox.list', given)
  checkKeys('the filter of inbox.list', filter, [
    'status',
    'to',
    'run',
    'procedure',
    'kind',
    'overdue',
    'limit',
    'cursor',
  ])
  const limit = readLimit('of inbox.list', filter['limit'])
  const store = await connection.begin()
  const place =
    filter['cursor'] === undefined ? null : readCursor('cursor of inbox.list', filter['cursor'], isPlace)
  const now = place?.now ?? (await store.now())
  const query = readQuery('inbox.list', filter)
  const { rows, last } = await readPage(store, { ...query, now, after: place?.after ?? null }, limit)
  return {
    items: rows.flatMap((row) => showAsk(connection, row, now) ?? []),
    cursor: last === null ? undefined : writeCursor({ now, after: orderOf(last, now) }),
  }
}

/** The rows of a page, and the last of them if there are more behind it. */
async function readPage(
  store: StorePort,
  query: Omit<AskQuery, 'lapsed' | 'limit'>,
  limit: number,
): Promise<{ readonly rows: readonly AskRow[]; readonly last: AskRow | null }> {
  for (let size = limit; ; size += limit) {
    const rows = await findAsks(store, { ...query, limit: size + 1 })
    if (rows.length <= size) return { rows, last: null }
    const page = rows.slice(0, size)
    // Rows whose place no cursor can name cannot be read either: one more page has as many readable ones as one may have.
    const last = page.findLast(isPlaced)
    if (last !== undefined) return { rows: page, last }
  }
}

/** An ask whose time has run out is timed out, also where no worker has come to record it. */
async function findAsks(store: StorePort, query: Omit<AskQuery, 'lapsed'>): Promise<readonly AskRow[]> {
  if (query.status === 'open') return store.asks({ ...query, lapsed: false })
  // First what is not recorded: recorded in between it is there twice, and not missing.
  const unrecorded =
    query.status === 'timed-out' && query.overdue !== false
      ? await store.asks({ ...query, status: 'open', overdue: true, lapsed: true })
      : []
  const recorded = await store.asks({ ...query, lapsed: null })
  if (unrecorded.length === 0) return recorded
  const { now, limit } = query
  const byId = new Map([...unrecorded, ...recorded].map((row) => [askIdOf(row.run, row.position), row]))
  return [...byId.values()].toSorted((a, b) => compareOrder(orderOf(a, now), orderOf(b, now))).slice(0, limit)
}

function readQuery(
  of: 'inbox.list' | 'inbox.next',
  filter: { readonly [name: string]: unknown },
): Omit<AskQuery, 'now' | 'after' | 'limit' | 'lapsed'> {
  const { status, to, run, procedure, kind, overdue } = filter
  return {
    status: status === undefined ? 'open' : checkOneOf(`status of ${of}`, status, askStatuses),
    to: to === undefined ? null : checkAudience(`to of ${of}`, to),
    run: run === undefined ? null : checkName(`run of ${of}`, run),
    procedure: procedure === undefined ? null : checkName(`procedure of ${of}`, procedure),
    kind: kind === undefined ? null : checkOneOf(`kind of ${of}`, kind, askKinds),
    overdue: overdue === undefined ? null : checkBoolean(`overdue of ${of}`, overdue),
  }
}

interface Place {
  /** All pages are judged at the instant of the first. */
  readonly now: number
  readonly after: AskOrder
}

function isPlace(value: unknown): value is Place {
  const { now, after } = (value ?? {}) as Partial<Place>
  if (typeof now !== 'number' || typeof after !== 'object' || after === null) return false
  const { overdue, urgency, dueAt, openedAt, run, position } = after as Partial<AskOrder>
  const numbers = [urgency, openedAt, run, position, dueAt ?? 0]
  return typeof overdue === 'boolean' && numbers.every((number) => Number.isSafeInteger(number))
}

async function getAsk(connection: Connection, given: unknown): Promise<Ask | null> {
  const id = parseAskId(checkId(given))
  const store = await connection.begin()
  const row = id === null ? null : await store.ask(id.run, id.position)
  return row === null ? null : showAsk(connection, row, await store.now())
}

async function nextAsk(connection: Connection, given: unknown): Promise<Ask> {
  const filter = checkObject('filter of inbox.next', given)
  checkKeys('the filter of inbox.next', filter, ['run', 'to', 'timeout'])
  const timeoutMs =
    filter['timeout'] === undefined ? null : parseDuration(filter['timeout'], 'timeout of inbox.next')
  const query = readQuery('inbox.next', { run: filter['run'], to: filter['to'] })
  const look = async (): Promise<Ask | undefined> => {
    const store = await connection.store()
    const now = await store.now()
    for (let limit = 1; ; limit *= 4) {
      const rows = await findAsks(store, { ...query, now, after: null, limit })
      for (const row of rows) {
        const ask = showAsk(connection, row, now)
        if (ask !== null) return ask
      }
      if (rows.length < limit) break
    }
    if (query.run !== null) await checkCanAsk(connection, store, query.run)
    return undefined
  }
  // Of a run, not of all: many wait each for theirs, and all would look whenever anybody is asked.
  return connection.wait(query.run === null ? topics.asks : topics.asksOf(query.run), look, timeoutMs)
}

/** A run that does not exist yet can still ask. @throws PawlError 'run-ended' */
async function checkCanAsk(connection: Connection, store: StorePort, run: string): Promise<void> {
  if (connection.localWorker?.holds(run)) return
  const row = await store.find(run)
  const state = row === null ? 'live' : knownRun(row).state
  if (state === 'live') return
  throw new PawlError(
    'run-ended',
    { run, status: state },
    {
      next: 'It has no open ask and opens none.',
      remedy: 'Start a new run under another id to be asked again.',
    },
  )
}

function checkId(given: unknown): string {
  return typeof given === 'string'
    ? given
    : refuse('ask', given, 'It must be the id of an ask, such as inbox.list gives.')
}

// ── answering

async function answerAsk(
  connection: Connection,
  mailer: Mailer,
  address: unknown,
  given: unknown,
  as: unknown,
): Promise<void> {
  const settings = checkObject('options of inbox.answer', as)
  checkKeys('the options of inbox.answer', settings, ['as'])
  const by = checkActor('as of inbox.answer', settings['as'])
  const to = readAddress(address)
  // A copy, made in the caller's own call: what he changes later was answered as it was.
  const answer = decode(encode(given, 'answer'))
  const store = await connection.begin()
  if ('ask' in to) {
    const id = parseAskId(to.ask)
    const row = id === null ? null : await store.ask(id.run, id.position)
    if (row === null) throw new PawlError('ask-not-found', to)
    return answerOpen(connection, mailer, row, answer, by)
  }
  const row = await store.askByKey(to.run, to.key)
  return row === null
    ? answerEarly(connection, mailer, to, answer, by)
    : answerOpen(connection, mailer, row, answer, by)
}

/** Of a question that is asked, or of one that has a key and no id yet. */
type Address = { readonly ask: string } | { readonly run: string; readonly key: string }

function readAddress(given: unknown): Address {
  if (typeof given === 'string') return { ask: given }
  const allowed = 'It must be the id of an ask, such as inbox.list gives, or { run, key }.'
  if (given === undefined) refuse('ask of inbox.answer', given, allowed)
  const address = checkObject('ask of inbox.answer', given)
  checkKeys('the address of inbox.answer', address, ['run', 'key'])
  return {
    run: checkName('run of inbox.answer', address['run']),
    key: checkName('key of inbox.answer', address['key']),
  }
}

async function answerOpen(
  connection: Connection,
  mailer: Mailer,
  stored: AskRow,
  given: unknown,
  by: Actor,
): Promise<void> {
  const store = await connection.store()
  const ask = askIdOf(stored.run, stored.position)
  const row = readStored(stored, readAsk)
  if (row.status !== 'open' || row.closesAt !== null) {
    const now = await store.now()
    if (askStatusOf(row, now) !== 'open') throw closedError(row, now)
  }
  if (!by.startsWith('user:')) throw new PawlError('answer-forbidden', { ask })
  // What JSON Schema cannot say the schema itself can, which is at hand where the run is in memory. Elsewhere the
  // worker checks by it.
  const check = connection.localWorker?.checkOf(row.runKey, row.position)
  const pinned = readStored(row, ({ payload }) => readAskPayload(payload))
  const checked = checkAnswer(pinned, given, check !== undefined)
  if (!checked.ok) throw new PawlError('answer-invalid', issuesOf(checked))
  const { answer, changed } = checked
  const message = await checkBySchema(check, row.kind, { answer, changed, by })
  const payload = encodeAround(message, message.answer, 'answer')
  const answered = await mailer.answer({
    run: row.run,
    position: row.position,
    by,
    payload,
  })
  if (answered.outcome === 'missing') throw new PawlError('ask-not-found', { ask })
  if (answered.outcome === 'closed') throw closedError(answered.ask, await store.now())
  if (answered.outcome === 'damaged') throw damagedError(row.run, answered)
}

/** Reads of a stored ask what is needed of it. @throws PawlError 'run-quarantined' */
function readStored<Row extends AskRow, Value>(row: Row, read: (row: Row) => Value): Value {
  try {
    return understand(() => read(row))
  } catch (error) {
    throw explainUnread(row.run, `Ask ${askIdOf(row.run, row.position)}`, error)
  }
}

/** @throws PawlError 'answer-invalid' */
async function checkBySchema(
  check: AnswerCheck | undefined,
  kind: string,
  given: GivenAnswer,
): Promise<AnswerMessage> {
  const subject = subjectOf(kind, given)
  if (subject === null || check === undefined) return given
  const { key, value } = subject
  // A copy: what a schema does to what it is given is nobody else's business.
  const result = await runChecks(() => check(decode(encode(value, `answer.${key}`))))
  if (result.ok) return { ...given, answer: { ...given.answer, [key]: result.value }, checked: true }
  throw new PawlError('answer-invalid', issuesIn(key, result))
}

/** Kept until the question is asked, or the run ends; checked when it is asked. The first one counts. */
async function answerEarly(
  connection: Connection,
  mailer: Mailer,
  { run, key }: { readonly run: string; readonly key: string },
  given: unknown,
  by: Actor,
): Promise<void> {
  const store = await connection.store()
  const ask = `${run}/${key}`
  if (!by.startsWith('user:'))
    throw new PawlError('answer-forbidden', { ask }, { next: 'The answer was not stored.' })
  const answer = checkObject('answer of inbox.answer', given)
  const payload = encodeAround({ answer, by } satisfies GivenAnswer, answer, 'answer')
  const sent = await mailer.send({ run, kind: 'early', name: key, key: `early:${key}`, payload })
  switch (sent.outcome) {
    case 'stored':
      return
    case 'asked': {
      const row = await store.ask(run, sent.position)
      if (row === null) throw new PawlError('ask-not-found', { ask })
      return answerOpen(connection, mailer, row, given, by)
    }
    case 'duplicate': {
      const row = await store.askByKey(run, key)
      // The earlier one did not fit, and was dropped.
      if (row?.status === 'open') return answerOpen(connection, mailer, row, given, by)
      throw row === null ? await earlierError(store, run, sent.run, key) : closedError(row, await store.now())
    }
    case 'missing':
      throw new PawlError('run-not-found', { run })
    case 'ended':
      throw new PawlError('run-ended', { run, status: sent.state })
    case 'damaged':
      throw damagedError(run, sent)
  }
}

function closedError(stored: AskRow, now: number): PawlError {
  const row = readStored(stored, readAsk)
  const winner =
    row.answeredBy === null || row.closedAt === null
      ? undefined
      : { by: row.answeredBy as Actor, at: new Date(row.closedAt) }
  return new PawlError('ask-closed', { status: askStatusOf(row, now), winner })
}

/** Why an answer by its key came too late, where no question has that key yet. */
async function earlierError(store: StorePort, id: string, run: RunKey, key: string): Promise<unknown> {
  try {
    const row = await store.find(id)
    const state = row === null ? 'live' : knownRun(row).state
    if (state !== 'live') return new PawlError('run-ended', { run: id, status: state })
    const earlier = (await store.mail(run, 0)).find(({ kind, name }) => kind === 'early' && name === key)
    if (earlier === undefined) return new PawlError('ask-closed', { status: 'answered', winner: undefined })
    return understand(() => answeredError(earlier))
  } catch (error) {
    return explainUnread(id, `What was sent to run ${id}`, error)
  }
}

function answeredError(earlier: Message): PawlError {
  const by = (decode(earlier.payload) as GivenAnswer).by as Actor
  const at = new Date(earlier.at)
  return new PawlError(
    'ask-closed',
    { status: 'answered', winner: { by, at } },
    {
      what: `${by} answered before the question was asked, at ${at.toISOString()}; whether it fits is found when it is.`,
      remedy:
        'Look at the question once it is asked: if that answer did not fit it is open, and takes another.',
    },
  )
}
