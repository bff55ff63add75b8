import { checkAnswer } from '../../asks/answer-check.ts'
import { askIdOf, readAskPayload, subjectOf } from '../../asks/ask.ts'
import { issuesIn, issuesOf } from '../../base/issues.ts'
import type { Actor } from '../../base/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode, encodeAround } from '../../events/payload.ts'
import type { AnswerMessage, GivenAnswer } from '../../events/payloads.ts'
import { runChecks } from '../../host/run-schema.ts'
import type { AnswerCheck } from '../../ports/local-worker.ts'
import { readAsk, understand } from '../../ports/rows.ts'
import type { AskRow } from '../../ports/store/asks.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import type { Mailer } from '../mailer.ts'
import { explainUnread } from '../unread.ts'
import { askStatusOf } from '../views/ask.ts'

export async function answerOpen(
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

export function closedError(stored: AskRow, now: number): PawlError {
  const row = readStored(stored, readAsk)
  const winner =
    row.answeredBy === null || row.closedAt === null
      ? undefined
      : { by: row.answeredBy as Actor, at: new Date(row.closedAt) }
  return new PawlError('ask-closed', { status: askStatusOf(row, now), winner })
}
