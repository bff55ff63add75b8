import { checkAnswer } from '../../../asks/answer-check.ts'
import { closesAtOf } from '../../../asks/ask.ts'
import type { Usage } from '../../../authoring/agent/agent.ts'
import { type Issues, issuesOf, oneIssue } from '../../../base/issues.ts'
import type { ErrorDetails } from '../../../errors/error-details.ts'
import { recordFailure } from '../../../errors/failure.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type {
  AnswerPayload,
  AskPayload,
  CancelledPayload,
  FailedPayload,
  GivenAnswer,
  TimedOutPayload,
} from '../../../events/payloads.ts'
import type { Message } from '../../../ports/store/mail.ts'
import type { Validation } from '../../../schemas/schema.ts'
import { usageMember } from '../step/usage.ts'

// How an ask is settled: by an answer, an answer that the code rejects, or a timeout. Pure.

/** The outcome of an ask. */
export interface Settlement {
  readonly failed: boolean
  readonly payload: Uint8Array
}

/** Settles an ask on timeout, by its `onTimeout`. */
export function settleByTimeout(
  ask: AskPayload,
  name: Pick<ErrorDetails['ask-timed-out'], 'ask' | 'address'>,
): Settlement {
  const { silence } = ask
  if (silence.do === 'fail') {
    const remedy = timeoutRemedies[ask.kind]
    const error = new PawlError(
      'ask-timed-out',
      { ...name, message: ask.message },
      remedy === undefined ? {} : { remedy },
    )
    const usage = (ask.judged?.usage ?? []) as readonly Usage[]
    const failed: FailedPayload = { ...recordFailure(error), ...usageMember(usage) }
    return { failed: true, payload: encodeRecord(failed, 'failure') }
  }
  const timedOut: TimedOutPayload = {
    timedOut: true,
    ...(ask.kind === 'approve' ? { approved: silence.do === 'approve', params: ask.params } : {}),
    ...(ask.kind === 'review' ? { artifact: ask.artifact } : {}),
    ...(silence.do === 'default' ? { default: silence.value } : {}),
  }
  return { failed: false, payload: encodeRecord(timedOut, 'timeout') }
}

/** Maximum length of the message of an ask in the reason of a cancel, in characters. */
const maxMessage = 200

/**
 * Returns the payload of the cancel that a no brings, or a timeout that counts as one; undefined if the ask does not cancel
 * its run, or the answer is a yes.
 */
export function cancelByNo(
  { message }: AskPayload,
  settlement: Settlement,
  answer: AnswerPayload | null,
): Uint8Array | undefined {
  if (settlement.failed) return undefined
  if (answer === null) {
    const { approved } = decode(settlement.payload) as TimedOutPayload
    return approved === true ? undefined : encodeCancel(`"${clip(message)}" was not answered in time`)
  }
  const { approved, comment } = answer.answer
  if (approved === true) return undefined
  const reason = `"${clip(message)}" was rejected${comment === undefined ? '' : `: ${clip(comment)}`}`
  return encodeCancel(reason, answer.by)
}

function clip(text: string): string {
  return text.length > maxMessage ? `${text.slice(0, maxMessage)}…` : text
}

function encodeCancel(reason: string, by: string = 'policy:on-timeout'): Uint8Array {
  return encodeRecord({ reason, by } satisfies CancelledPayload, 'reason')
}

/** Settles an ask whose accepted answer the schema of the code rejects. */
export function settleByInvalidAnswer(answer: AnswerPayload, refused: Issues): Settlement {
  const error = new PawlError('answer-invalid', issuesOf(refused), acceptedBefore)
  const failed: FailedPayload = { ...recordFailure(error), answer }
  return { failed: true, payload: encodeRecord(failed, 'answer') }
}

/** Validates an early answer. */
export function checkEarly(ask: AskPayload, early: Message): Validation<AnswerPayload> {
  const { answer, ...given } = decode(early.payload) as GivenAnswer
  const closesAt = closesAtOf(ask)
  if (closesAt !== null && closesAt <= early.at) return { ok: false, ...cameTooLate }
  const checked = checkAnswer(ask, answer)
  if (!checked.ok) return checked
  const { answer: made, changed } = checked
  return { ok: true, value: { answer: made, changed, ...given, at: early.at } }
}

/** Remedies for kinds of asks with other `onTimeout` values than most. */
const timeoutRemedies: { readonly [kind in AskPayload['kind']]?: string } = {
  approve: "Catch this error, or set onTimeout to 'reject', 'escalate' or 'keep-waiting'.",
  decide: 'Catch this error, or remove the timeout: a decision has no `onTimeout`.',
}

const cameTooLate = oneIssue('', 'it arrived after the timeout')

const acceptedBefore = {
  next: 'It was accepted and recorded; the ask is closed.',
  remedy:
    'Catch this error and ask again. To reject such answers while the ask is open, express the rule in JSON Schema.',
}
