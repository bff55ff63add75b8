import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type Options,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import type { AnswerPayload, AskPayload } from '../events/payloads.ts'
import type { Issue } from '../schemas/schema.ts'

type Answer = AnswerPayload['answer']
export type CheckedAnswer =
  | { readonly ok: true; readonly answer: Answer; readonly changed: boolean }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * Checks an answer against the ask as it was pinned: its kind, its choices, what may be edited, its JSON
 * Schema unless it is `bySchema`: checked by the author's own, which says more. Every door uses it, and the worker for
 * an answer that came before its ask. What comes back holds the params or the artifact whole, with the person's changes.
 */
export function checkAnswer(asked: AskPayload, given: unknown, bySchema = false): CheckedAnswer {
  const { schema, ...rest } = asked
  const ask = bySchema || schema === undefined ? rest : asked
  if (!isRecord(given)) return refuse('', `must be an object such as ${exampleOf(ask)}`)
  const comment = given['comment']
  if (comment !== undefined && typeof comment !== 'string') return refuse('comment', 'must be text')
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !fieldsOf(ask).includes(key))
  if (unknown !== undefined)
    return refuse(unknown, `is no part of an answer to this question; it takes ${fieldsOf(ask).join(', ')}`)
  const checked = checkers[ask.kind](ask, given)
  if (!checked.ok || comment === undefined) return checked
  return { ...checked, answer: { ...checked.answer, comment } }
}

type Checker = (ask: AskPayload, given: Readonly<Record<string, unknown>>) => CheckedAnswer

const checkers: { readonly [K in AskPayload['kind']]: Checker } = {
  approve: checkApproval,
  input: checkInput,
  select: checkChoice,
  review: checkReview,
  escalate: checkChoice,
  decide: checkChoice,
}

function fieldsOf({ kind }: AskPayload): readonly string[] {
  if (kind === 'approve') return ['approved', 'params', 'comment']
  if (kind === 'input') return ['value', 'comment']
  return kind === 'review' ? ['choice', 'artifact', 'comment'] : ['choice', 'comment']
}

function exampleOf({ kind, choices }: AskPayload): string {
  if (kind === 'approve') return '{ approved: true }'
  return kind === 'input' ? '{ value: … }' : `{ choice: '${choices?.[0]?.value ?? ''}' }`
}

function checkApproval(ask: AskPayload, given: Readonly<Record<string, unknown>>): CheckedAnswer {
  const { approved, params } = given
  if (approved !== true && approved !== false) return refuse('approved', 'must be true or false')
  if (!approved)
    return params === undefined
      ? accept({ approved })
      : refuse('params', 'can only be changed by an approval')
  const shown = isRecord(ask.params) ? ask.params : {}
  if (params === undefined) return accept({ approved, params: shown })
  if (!isRecord(params)) return refuse('params', 'must be an object')
  const changed = Object.keys(params).filter((key) => !isEqual(params[key], shown[key]))
  const locked = changed.find((key) => !(ask.editable ?? []).includes(key))
  if (locked !== undefined)
    return refuse(
      `params.${locked}`,
      ask.editable?.length ? `cannot be changed; only ${ask.editable.join(', ')} can` : 'cannot be changed',
    )
  // By the keys of what was shown, so that a key such as __proto__ cannot come in.
  const merged = Object.fromEntries(
    Object.keys(shown).map((key) => [key, changed.includes(key) ? params[key] : shown[key]]),
  )
  return accept(
    { approved, params: merged },
    changed.length > 0,
    changed.length > 0 ? checkSchema(ask, merged, 'params') : [],
  )
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
  return accept(
    { ...chosen.answer, artifact },
    changed,
    changed ? checkSchema(ask, artifact, 'artifact') : [],
  )
}

function accept(answer: Answer, changed = false, issues: readonly Issue[] = []): CheckedAnswer {
  return issues.length > 0 ? { ok: false, issues } : { ok: true, answer, changed }
}

function refuse(path: string, message: string): CheckedAnswer {
  return { ok: false, issues: [{ path, message }] }
}

/** Issues of the part of an answer that a schema is about, as issues of the answer. */
export function issuesIn(part: string, issues: readonly Issue[]): readonly Issue[] {
  return issues.map(({ path, message }) => ({
    path: path === '' ? part : `${part}${path.startsWith('[') ? '' : '.'}${path}`,
    message,
  }))
}

// ── JSON Schema

/** Null for what cannot be compiled: that is left to the schema it was made of. */
const compiled = new Map<string, ValidateFunction | null>()
const compiledKept = 200

const settings: Options = {
  allErrors: true,
  // What an error is about comes with it.
  verbose: true,
  strict: false,
  // NaN is a number to nobody who asks for one.
  strictNumbers: true,
  validateFormats: false,
  // Cents: 19.99 / 0.01 is 1998.9999999999998.
  multipleOfPrecision: 4,
  code: { regExp: Object.assign(makePattern, { code: 'makePattern' }) },
  ...{ meta: false, validateSchema: false, logger: false },
}

/** As it is written in code, without flags, but for what only means something with the flag `u`. */
function makePattern(pattern: string): RegExp {
  return new RegExp(pattern, /\\[pPu]\{/.test(pattern) ? 'u' : '')
}

/**
 * Some libraries count the UTF-16 units of a text, others its code points, as JSON Schema does. What is too short is so
 * either way; of what is too long that holds as it is, since there are never fewer units.
 */
const shortest: CodeKeywordDefinition = {
  keyword: 'minLength',
  type: 'string',
  schemaType: 'number',
  code: (context) => context.fail(_`${context.data}.length < ${context.schemaCode}`),
  error: { message: ({ schemaCode }) => str`must NOT have fewer than ${schemaCode} characters` },
}

function checkSchema({ schema }: AskPayload, value: unknown, at: string): readonly Issue[] {
  if (schema === undefined) return []
  const key = JSON.stringify(schema)
  let check = compiled.get(key)
  if (check === undefined) {
    if (compiled.size >= compiledKept) compiled.clear()
    check = compile(schema)
    compiled.set(key, check)
  }
  return check === null || isFitting(check, value)
    ? []
    : withoutUndefined(check.errors ?? []).map((error) => issueOf(error, at))
}

/**
 * JSON Schema knows no undefined, and refuses it in arrays and records whatever the author's schema says. So that is left
 * to that schema, and with it all that is said where it may be why none of several fits. It is not said of undefined that
 * a property is missing, but of the object.
 */
function withoutUndefined(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const undefinedAt = errors.filter(isAboutUndefined).map(({ instancePath }) => instancePath)
  let left = errors.filter(({ instancePath }) => !undefinedAt.some((at) => isWithin(instancePath, at)))
  const several = left.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  // The inner ones first.
  for (const outer of several.toSorted((x, y) => y.schemaPath.length - x.schemaPath.length)) {
    if (!undefinedAt.some((at) => isWithin(at, outer.instancePath))) continue
    const branches = (outer.schema as readonly unknown[]).map((_, i) => `${outer.schemaPath}/${i}/`)
    const fits = branches.some((branch) => !left.some(({ schemaPath }) => schemaPath.startsWith(branch)))
    if (fits) left = left.filter((one) => one !== outer && !one.schemaPath.startsWith(`${outer.schemaPath}/`))
  }
  return left
}

/** Not of a value that is undefined as a whole: of that the ask says whether it may be. */
function isAboutUndefined({ data, instancePath }: ErrorObject): boolean {
  return data === undefined && instancePath !== ''
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`)
}

/** A schema that leads back to itself on the same value checks nothing. */
function isFitting(check: ValidateFunction, value: unknown): boolean {
  try {
    return check(value)
  } catch {
    return true
  }
}

/** A compiler of its own for each schema: names within one mean nothing to another. */
function compile(schema: object): ValidateFunction | null {
  try {
    return new Ajv2020(settings).removeKeyword('minLength').addKeyword(shortest).compile(schema)
  } catch {
    return null
  }
}

function issueOf({ instancePath, message, params }: ErrorObject, at: string): Issue {
  const path = at + instancePath.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')
  const extra =
    'additionalProperty' in params
      ? ` (${String(params['additionalProperty'])})`
      : 'allowedValues' in params
        ? ` (${String(params['allowedValues'])})`
        : ''
  return { path, message: `${message ?? 'is invalid'}${extra}` }
}

// ── values

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equality of payloads: by value, whatever the order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return false
  if (kind === '[object Date]') return Object.is(Number(a), Number(b))
  if (kind !== '[object Object]') return areEqual(itemsOf(a), itemsOf(b))
  const keys = definedKeys(a)
  return (
    keys.length === definedKeys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(read(a, key), read(b, key)))
  )
}

/** Also of another realm; a Buffer is a Uint8Array. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value)
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
}

/** Of an array, a map, a set, or bytes; with those of an array that were left out. */
function itemsOf(value: object): readonly unknown[] {
  return Array.from(value as Iterable<unknown>)
}

/** A member that is undefined says the same as one that is not there. */
function definedKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => read(value, key) !== undefined)
}

function read(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key]
}
