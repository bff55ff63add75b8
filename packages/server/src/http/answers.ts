import { isDeepStrictEqual } from 'node:util'
import type { Answer, Ask, ResumeResolution } from '@pawl/core'
import { JsonError, readPayload } from '../json/payload.ts'
import type { AnswerJson, ResolutionJson } from '../json/shapes.ts'
import { ServerError } from './problem.ts'

/** Reads the payload in one part of a request. @throws ServerError 'request-invalid' */
export function readPart(part: string, json: unknown): unknown {
  try {
    return readPayload(json, part)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const issues = [{ path: error.path, message: error.message }]
    throw new ServerError('request-invalid', `The request is invalid: ${error.path}: ${error.message}.`, {
      issues,
    })
  }
}

/** Reads the payloads in an answer or a resolution. @throws ServerError 'request-invalid' */
export function readAnswer<Given extends AnswerJson | ResolutionJson>(
  json: Given,
): Given extends AnswerJson ? Answer : ResumeResolution
export function readAnswer(json: object): object {
  return Object.fromEntries(
    Object.entries(json).map(([part, value]) => [
      part,
      part === 'params' || part === 'value' || part === 'artifact' ? readPart(part, value) : value,
    ]),
  )
}

/** Converts a resolution to an answer. */
export function toAnswer({ kind }: Ask, resolution: ResumeResolution): Answer {
  if (!('decision' in resolution)) return resolution
  const { decision, ...rest } = resolution
  return kind === 'approve' ? { ...rest, approved: decision === 'approve' } : { ...rest, choice: decision }
}

/** Whether the ask was settled by this very answer of this person, so that sending it again is no mistake. */
export function isRepeated(ask: Ask, answer: Answer, by: string): boolean {
  if (ask.answer === undefined || ask.answer.by !== by) return false
  const { by: _by, at: _at, via: _via, madeBy: _madeBy, actedBy: _actedBy, ...given } = ask.answer
  return isDeepStrictEqual(withoutUndefined(given), completed(ask, given, answer))
}

/** Completes an answer with the params and the artifact of the ask. */
function completed({ params, artifact }: Ask, stored: object, answer: Answer): object {
  const given: { readonly params?: object; readonly artifact?: unknown } = withoutUndefined(answer)
  return {
    ...given,
    ...('params' in stored ? { params: { ...(params as object | undefined), ...given.params } } : {}),
    ...('artifact' in stored && !('artifact' in given) ? { artifact } : {}),
  }
}

function withoutUndefined(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined))
}
