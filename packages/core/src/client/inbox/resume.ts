import { checkKeys, checkName, checkObject, checkText, refuse } from '../../checks/options.ts'
import { anything, optional, readOptions, required, type Spec, type Values } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { Connection } from '../connection.ts'
import type { Mailer } from '../mailer.ts'
import type { Answer, Ask } from '../views/views.ts'
import { answerAsk } from './answer.ts'
import type { ResumeResolution } from './answering.ts'
import { getAsk } from './list.ts'

const requestOptions = { checkpoint: required(checkName), resolution: required(checkObject) }

const decisionOptions = {
  decision: required(anything),
  params: optional(anything),
  artifact: optional(anything),
  comment: optional(anything),
} satisfies Spec<Extract<ResumeResolution, { readonly decision: string }>>

/** Answers the ask behind a checkpoint, with an answer or with a decision by name. */
export async function resume(
  connection: Connection,
  mailer: Mailer,
  given: unknown,
  as: unknown,
): Promise<void> {
  const label = 'the request of resume'
  const { checkpoint, resolution: answer } = readOptions('of resume', given, requestOptions, label)
  if (!('decision' in answer)) return answerAsk(connection, mailer, checkpoint, answer, as)
  const resolution = readOptions('of resume', answer, decisionOptions, 'the resolution of resume')
  const ask = await getAsk(connection, checkpoint)
  if (ask === null) throw new PawlError('ask-not-found', { ask: checkpoint })
  return answerAsk(connection, mailer, checkpoint, toAnswer(ask, resolution), as)
}

/** Converts a decision to an answer of the ask's kind. Rejects fields that the kind does not have. */
function toAnswer(ask: Ask, { decision: given, ...parts }: Values<typeof decisionOptions>): Answer {
  const decision = checkText('decision of resume', given)
  const { comment, ...rest } = parts
  const logged = comment === undefined ? {} : { comment: comment as string }
  switch (ask.kind) {
    case 'approve': {
      if (decision === 'reject') return { ...only(ask, rest, []), ...logged, approved: false }
      if (decision === 'approve') return { ...only(ask, rest, ['params']), ...logged, approved: true }
      return refuse('decision of resume', decision, "It must be 'approve' or 'reject'.")
    }
    case 'input':
      return refuse('decision of resume', decision, 'An input has no decision: pass { value }.')
    case 'review':
      return { ...only(ask, rest, ['artifact']), ...logged, choice: decision }
    case 'select':
    case 'escalate':
    case 'decide':
      return { ...only(ask, rest, []), ...logged, choice: decision }
  }
}

function only(ask: Ask, parts: object, allowed: readonly string[]): object {
  checkKeys(`a decision on an ask of kind ${ask.kind}`, parts, allowed)
  return parts
}
