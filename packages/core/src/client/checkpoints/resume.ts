import { checkKeys, checkName, checkObject, checkText, refuse } from '../../checks/options.ts'
import { anything, optional, readOptions, required, type Spec, type Values } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode } from '../../events/payload.ts'
import type { ResumeResolution } from '../answering.ts'
import type { Connection } from '../connection.ts'
import { readGiver } from '../inbox/answer.ts'
import { answerOpen, type Giver } from '../inbox/answer-open.ts'
import { findShown } from '../inbox/find.ts'
import type { Mailer } from '../mailer.ts'
import type { Answer, Ask } from '../views/views.ts'
import { findCheckpoint } from './list.ts'

const requestOptions = { checkpoint: required(checkName), resolution: required(checkObject) }

const decisionOptions = {
  decision: required(anything),
  params: optional(anything),
  artifact: optional(anything),
  comment: optional(anything),
} satisfies Spec<Extract<ResumeResolution, { readonly decision: string }>>

/**
 * Answers the ask behind a checkpoint, with an answer or with a decision by name. Returns the id of its run.
 * @param judge throws if the person may not answer the ask that is stored
 */
export async function resume(
  connection: Connection,
  mailer: Mailer,
  given: unknown,
  as: unknown,
  judge?: (ask: Ask, giver: Giver) => void,
): Promise<string> {
  const label = 'the request of resume'
  const { checkpoint, resolution } = readOptions('of resume', given, requestOptions, label)
  // Copied synchronously, so that later changes by the caller have no effect.
  const kept = decode(encode(resolution, 'resolution')) as object
  const decision =
    'decision' in kept ? readOptions('of resume', kept, decisionOptions, 'the resolution of resume') : null
  const giver = readGiver(as)
  const found = await findShown(connection, checkpoint)
  if (found === null) return refuseUnasked(connection, checkpoint)
  judge?.(found.ask, giver)
  const answer = decision === null ? kept : toAnswer(found.ask, decision)
  await answerOpen(connection, mailer, found.row, answer, giver)
  return found.ask.run
}

/** A program saved the checkpoint, or there is none: no question is there. */
async function refuseUnasked(connection: Connection, id: string): Promise<never> {
  const saved = await findCheckpoint(connection, id)
  if (saved === null) throw new PawlError('ask-not-found', { ask: id })
  const what = `Checkpoint ${id} of run ${saved.run} asks nothing: the run saved it and did not wait.`
  throw new PawlError(
    'ask-not-found',
    { ask: id },
    { what, remedy: 'To begin anew from it, use `client.fork`.' },
  )
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
