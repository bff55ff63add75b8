import { checkAnswer } from '../../asks/answer-check.ts'
import { readAskPayload, subjectOf } from '../../asks/ask.ts'
import { askAddressOf } from '../../asks/ask-id.ts'
import { digestOf } from '../../asks/digest.ts'
import { issuesIn, issuesOf } from '../../base/issues.ts'
import { topics } from '../../base/notifier.ts'
import { countParts } from '../../base/parts.ts'
import type { Actor } from '../../base/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode, encodeAround } from '../../events/payload.ts'
import type { AnswerMessage, GivenAnswer } from '../../events/payloads.ts'
import { rounds } from '../../host/rounds.ts'
import { runChecks } from '../../host/run-schema.ts'
import { readAskSlot } from '../../ports/ask-slot.ts'
import type { AnswerCheck } from '../../ports/local-worker.ts'
import { type KnownAsk, readAsk, understand } from '../../ports/rows.ts'
import type { AskRow } from '../../ports/store/asks.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import type { Mailer } from '../mailer.ts'
import { explainUnread } from '../unread.ts'
import { askStatusOf } from '../views/ask.ts'

/** Who gives an answer, how it comes, and the digest of what the person was shown. */
export interface Giver {
  readonly by: Actor
  readonly via?: string
  readonly madeBy?: Actor
  readonly actedBy?: Actor
  readonly digest?: string
}

/** Work of checking an answer, in rows. The lookups of many answers may end in the same round of the event loop. */
const workOfAnswer = 6
/** Each part of an answer costs about as much as a row. More of them have a round of their own anyway. */
const maxParts = 1_000

export async function answerOpen(
  connection: Connection,
  mailer: Mailer,
  stored: AskRow,
  given: unknown,
  giver: Giver,
): Promise<void> {
  const { run, position } = stored
  const payload = await checkOpen(connection, stored, given, giver)
  const answered = await mailer.answer({ run, position, by: giver.by, payload })
  if (answered.outcome === 'missing') throw new PawlError('ask-not-found', nameAsk(connection, stored))
  if (answered.outcome === 'closed') {
    const store = await connection.store()
    throw closedError(connection, answered.ask, await store.now())
  }
  if (answered.outcome === 'damaged') throw damagedError(run, answered)
  connection.notifier.notify(topics.feed)
}

/**
 * Checks an answer to an ask without storing it, and returns it encoded.
 * @throws PawlError 'ask-closed', 'ask-changed', 'answer-forbidden', 'answer-invalid', 'payload-refused', 'run-quarantined'
 */
export async function checkOpen(
  connection: Connection,
  stored: AskRow,
  given: unknown,
  giver: Giver,
): Promise<Uint8Array> {
  const row = readStored(connection, stored, readAsk)
  if (row.status !== 'open') await refuseIfClosed(connection, row)
  refuseIfChanged(connection, row, giver)
  await rounds.enter(workOfAnswer + countParts(given, maxParts))
  return encodeAnswer(connection, row, given, giver).catch(async (error: unknown) => {
    // A passed timeout takes precedence. For a valid answer the store checks it in the answering transaction.
    await refuseIfClosed(connection, row)
    throw error
  })
}

/** @throws PawlError 'ask-closed' */
async function refuseIfClosed(connection: Connection, row: KnownAsk): Promise<void> {
  if (row.status === 'open' && row.closesAt === null) return
  const store = await connection.store()
  const now = await store.now()
  if (askStatusOf(row, now) !== 'open') throw closedError(connection, row, now)
}

/** The id is that of the ask, and the question may be another one: an import or a backup can have replaced the run. @throws PawlError 'ask-changed' */
function refuseIfChanged(connection: Connection, row: KnownAsk, { digest }: Giver): void {
  if (digest !== undefined && digest !== digestOf(connection.sha256, row))
    throw new PawlError('ask-changed', nameAsk(connection, row))
}

/** @throws PawlError 'answer-forbidden', 'answer-invalid', 'payload-refused', 'run-quarantined' */
async function encodeAnswer(
  connection: Connection,
  row: KnownAsk,
  given: unknown,
  giver: Giver,
): Promise<Uint8Array> {
  if (!giver.by.startsWith('user:')) throw new PawlError('answer-forbidden', nameAsk(connection, row))
  const pinned = readStored(connection, row, ({ payload }) => readAskPayload(payload))
  // First by the stored JSON Schema, which stops at the hundredth issue: the author's schema may collect a million.
  const checked = checkAnswer(pinned, given)
  if (!checked.ok) throw new PawlError('answer-invalid', issuesOf(checked))
  const { answer, changed } = checked
  // The author's schema checks more. It is available if the run is loaded here; otherwise the worker applies it.
  const check = connection.localWorker?.checkOf(row.runKey, readAskSlot(row.position).position)
  const message = await checkBySchema(check, row.kind, { answer, changed, ...giver })
  return encodeAround(message, message.answer, 'answer')
}

function nameAsk({ askIds }: Connection, row: AskRow): { readonly ask: string; readonly address: string } {
  return { ask: askIds.idOf(row), address: askAddressOf(row) }
}

/** Reads a part of a stored ask. @throws PawlError 'run-quarantined' */
function readStored<Row extends AskRow, Value>(
  { askIds }: Connection,
  row: Row,
  read: (row: Row) => Value,
): Value {
  try {
    return understand(() => read(row))
  } catch (error) {
    throw explainUnread(row.run, `Ask ${askIds.describe(row)}`, error)
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
  // A copy, since a schema may modify the value it is given.
  const result = await runChecks(() => check(decode(encode(value, `answer.${key}`))))
  if (result.ok) return { ...given, answer: { ...given.answer, [key]: result.value }, checked: true }
  throw new PawlError('answer-invalid', issuesIn(key, result))
}

export function closedError(connection: Connection, stored: AskRow, now: number): PawlError {
  const row = readStored(connection, stored, readAsk)
  const winner =
    row.answeredBy === null || row.closedAt === null
      ? undefined
      : { by: row.answeredBy as Actor, at: new Date(row.closedAt) }
  return new PawlError('ask-closed', { status: askStatusOf(row, now), winner })
}
