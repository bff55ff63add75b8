import { checkAnswer } from '../../../asks/answer-check.ts'
import { closesAtOf } from '../../../asks/ask.ts'
import type { Usage } from '../../../authoring/agent/agent.ts'
import { type Issues, issuesOf, oneIssue } from '../../../base/issues.ts'
import { recordFailure } from '../../../errors/failure.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type {
  AnswerPayload,
  AskPayload,
  FailedPayload,
  GivenAnswer,
  TimedOutPayload,
} from '../../../events/payloads.ts'
import type { Message } from '../../../ports/store/mail.ts'
import type { Validation } from '../../../schemas/schema.ts'
import { usageMember } from '../step/usage.ts'

// What settles an ask: an answer, an answer that the code refuses, or a timeout. Pure.

/** How an ask is settled. */
export interface Settlement {
  readonly failed: boolean
  readonly payload: Uint8Array
}

/** What a timeout counts as, by the `onTimeout` of the ask. */
export function settleByTimeout(ask: AskPayload, id: string): Settlement {
  const { silence } = ask
  if (silence.do === 'fail') {
    const remedy = timeoutRemedies[ask.kind]
    const error = new PawlError(
      'ask-timed-out',
      { ask: id, message: ask.message },
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

/** An accepted answer that the schema of the code refuses. */
export function settleByInvalidAnswer(answer: AnswerPayload, refused: Issues): Settlement {
  const error = new PawlError('answer-invalid', issuesOf(refused), acceptedBefore)
  const failed: FailedPayload = { ...recordFailure(error), answer }
  return { failed: true, payload: encodeRecord(failed, 'answer') }
}

/** Validates an answer that came before its question. */
export function checkEarly(ask: AskPayload, early: Message): Validation<AnswerPayload> {
  const { answer, by } = decode(early.payload) as GivenAnswer
  const closesAt = closesAtOf(ask)
  if (closesAt !== null && closesAt <= early.at) return { ok: false, ...cameTooLate }
  const checked = checkAnswer(ask, answer, true)
  if (!checked.ok) return checked
  return { ok: true, value: { answer: checked.answer, changed: checked.changed, by, at: early.at } }
}

/** For kinds of asks whose `onTimeout` has other values than that of most. */
const timeoutRemedies: { readonly [kind in AskPayload['kind']]?: string } = {
  approve:
    "Catch this error, or say what silence means with onTimeout: 'reject', 'escalate' or 'keep-waiting'.",
  decide: 'Catch this error, or leave the timeout out: a decision says nothing else of silence.',
}

const cameTooLate = oneIssue('', 'it came when the time for it was over')

const acceptedBefore = {
  next: 'It was accepted and is recorded; the ask is closed.',
  remedy:
    'Catch this error and ask again; to have such an answer refused while the ask is open, say more of it in JSON Schema.',
}
