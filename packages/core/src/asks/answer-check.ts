import { isEqual } from '../base/equal.ts'
import { isBlank } from '../base/hidden.ts'
import { IssueList, type Issues, oneIssue } from '../base/issues.ts'
import type { AnswerPayload, AskPayload } from '../events/payloads.ts'
import { checkJsonSchema } from '../schemas/json-schema/check.ts'
import { decisionIn, needsComment } from './decisions.ts'
import { checkSameTypes } from './same-types.ts'

type Answer = AnswerPayload['answer']
export type CheckedAnswer =
  | { readonly ok: true; readonly answer: Answer; readonly changed: boolean }
  | ({ readonly ok: false } & Issues)

/**
 * Checks an answer against its stored ask: the kind, the choices, the editable fields and the JSON Schema, in a time that is linear
 * in the size of the answer. Clients check answers to open asks with it, and the worker early ones, before the author's own schema,
 * which checks more, sees them. The result holds the whole params or artifact with the person's changes.
 */
export function checkAnswer(ask: AskPayload, given: unknown): CheckedAnswer {
  const form = forms[ask.kind]
  if (!isRecord(given)) return refuse('', `must be an object such as ${form.example(ask)}`)
  const comment = given['comment']
  if (comment !== undefined && typeof comment !== 'string') return refuse('comment', 'must be text')
  const fields = [...form.fields, 'comment']
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !fields.includes(key))
  if (unknown !== undefined)
    return refuse(unknown, `is not a field of an answer to this ask; its fields are ${fields.join(', ')}`)
  const checked = form.check(ask, given)
  if (!checked.ok) return checked
  if (isBlank(comment ?? '') && needsComment(ask, decisionIn(checked.answer)))
    return refuse('comment', 'is required: say why')
  if (comment === undefined) return checked
  return { ...checked, answer: { ...checked.answer, comment } }
}

/** What an answer to an ask of a kind is. Any answer may also have a comment. */
interface AnswerForm {
  readonly fields: readonly string[]
  /** An answer, as the caller would write it. */
  example(ask: AskPayload): string
  check(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer
}

const choosing: AnswerForm = {
  fields: ['choice'],
  example: ({ choices }) => `{ choice: '${choices?.[0]?.value ?? ''}' }`,
  check: checkChoice,
}

const forms: { readonly [K in AskPayload['kind']]: AnswerForm } = {
  approve: { fields: ['approved', 'params'], example: () => '{ approved: true }', check: checkApproval },
  input: { fields: ['value'], example: () => '{ value: … }', check: checkInput },
  select: choosing,
  review: { ...choosing, fields: ['choice', 'artifact'], check: checkReview },
  escalate: choosing,
  decide: choosing,
}

function checkApproval(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer {
  const { approved, params } = given
  if (approved !== true && approved !== false) return refuse('approved', 'must be true or false')
  if (!approved)
    return params === undefined
      ? accept({ approved })
      : refuse('params', 'can only be changed with an approval')
  const shown = isRecord(ask.params) ? ask.params : {}
  if (params === undefined) return accept({ approved, params: shown })
  if (!isRecord(params)) return refuse('params', 'must be an object')
  const changed = new Set(Object.keys(params).filter((key) => !isEqual(params[key], shown[key])))
  const editable = new Set(ask.editable)
  const locked = [...changed].find((key) => !editable.has(key))
  if (locked !== undefined)
    return refuse(
      `params.${locked}`,
      ask.editable?.length ? `cannot be changed; only ${ask.editable.join(', ')} can` : 'cannot be changed',
    )
  // By the keys of the shown params, so that a key such as __proto__ cannot be added.
  const merged = Object.fromEntries(
    Object.keys(shown).map((key) => [key, changed.has(key) ? params[key] : shown[key]]),
  )
  if (changed.size === 0) return accept({ approved, params: merged })
  return accept({ approved, params: merged }, true, checkEdit(ask, shown, merged, 'params'))
}

function checkInput(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer {
  const { value } = given
  if (value === undefined && ask.optional === true) return accept({ value })
  if (!('value' in given)) return refuse('value', 'is missing')
  return accept({ value }, false, checkSchema(ask, value, 'value'))
}

function checkChoice(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer {
  const choices = (ask.choices ?? []).map(({ value }) => value)
  const choice = given['choice']
  if (typeof choice !== 'string' || !choices.includes(choice))
    return refuse('choice', `must be one of ${choices.join(', ')}`)
  return accept({ choice })
}

function checkReview(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer {
  const chosen = checkChoice(ask, given)
  if (!chosen.ok) return chosen
  const artifact = given['artifact'] === undefined ? ask.artifact : given['artifact']
  const changed = !isEqual(artifact, ask.artifact)
  if (changed && ask.editable === undefined) return refuse('artifact', 'cannot be changed')
  if (!changed) return accept({ ...chosen.answer, artifact })
  return accept({ ...chosen.answer, artifact }, true, checkEdit(ask, ask.artifact, artifact, 'artifact'))
}

function accept(answer: Answer, changed = false, { issues, more }: Issues = fine): CheckedAnswer {
  if (issues.length === 0) return { ok: true, answer, changed }
  return { ok: false, ...(more ? { more } : {}), issues }
}

const fine: Issues = { issues: [] }

function refuse(path: string, message: string): CheckedAnswer {
  return { ok: false, ...oneIssue(path, message) }
}

// ── against the schema, or against the shown value

function checkSchema({ schema }: AskPayload, value: unknown, at: string): Issues {
  const list = new IssueList()
  if (schema !== undefined) checkJsonSchema(schema, value, at, list)
  return list.found
}

function checkEdit(ask: AskPayload, shown: unknown, edited: unknown, at: string): Issues {
  if (ask.keepsTypes !== true) return checkSchema(ask, edited, at)
  const list = new IssueList()
  checkSameTypes(shown, edited, at, list)
  return list.found
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
