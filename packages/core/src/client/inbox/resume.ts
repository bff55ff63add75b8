import { checkKeys, checkName, checkObject, checkText, refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { Connection } from '../connection.ts'
import type { Mailer } from '../mailer.ts'
import type { Answer, Ask } from '../views/views.ts'
import { answerAsk } from './answer.ts'
import { getAsk } from './list.ts'

/** Answers the ask behind a checkpoint, with an answer or with a decision by name. */
export async function resume(
  connection: Connection,
  mailer: Mailer,
  given: unknown,
  as: unknown,
): Promise<void> {
  const request = checkObject('request of resume', given)
  checkKeys('the request of resume', request, ['checkpoint', 'resolution'])
  const checkpoint = checkName('checkpoint of resume', request['checkpoint'])
  const resolution = checkObject('resolution of resume', request['resolution'])
  if (!('decision' in resolution)) return answerAsk(connection, mailer, checkpoint, resolution, as)
  checkKeys('the resolution of resume', resolution, ['decision', 'params', 'artifact', 'comment'])
  const ask = await getAsk(connection, checkpoint)
  if (ask === null) throw new PawlError('ask-not-found', { ask: checkpoint })
  return answerAsk(connection, mailer, checkpoint, toAnswer(ask, resolution), as)
}

/** Converts a decision to an answer of the ask's kind. Rejects fields that the kind does not have. */
function toAnswer(ask: Ask, { decision: given, ...parts }: { readonly [part: string]: unknown }): Answer {
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
