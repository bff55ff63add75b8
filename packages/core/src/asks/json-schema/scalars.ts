import { isEqual } from '../../base/equal.ts'
import { showValue } from '../../base/text.ts'
import { isJson, type Json, listOf, type Rule, type Walk } from './walk.ts'

/** What is wrong with a value; null if nothing is. */
export type Gate = (value: unknown) => string | null

// ── what any value must be

const types: { readonly [type: string]: (value: unknown) => boolean } = {
  // NaN and the infinities are not numbers of JSON.
  number: Number.isFinite,
  integer: Number.isInteger,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isJson,
}

/** `type`, `const` and `enum`: a value that they refuse is not looked at any further. */
export function gatesOf(schema: Json): readonly Gate[] {
  return [typeGate(schema), constGate(schema), enumGate(schema)].filter((gate) => gate !== null)
}

function typeGate(schema: Json): Gate | null {
  const names = typesOf(schema)
  const tests = names.map((name) => types[name])
  if (names.length === 0) return null
  // A type of a later draft, or none at all.
  if (!tests.every((test) => test !== undefined)) return null
  const [only] = tests
  const message = `must be ${orList(names)}`
  if (tests.length === 1 && only !== undefined) return (value) => (only(value) ? null : message)
  return (value) => (tests.some((test) => test(value)) ? null : message)
}

/** The types that a schema names itself. `nullable` is of OpenAPI. */
export function typesOf(schema: Json): readonly string[] {
  const names = [schema['type']].flat().filter((name) => typeof name === 'string')
  return names.length > 0 && schema['nullable'] === true ? [...new Set([...names, 'null'])] : names
}

function constGate(schema: Json): Gate | null {
  if (!Object.hasOwn(schema, 'const')) return null
  const constant = schema['const']
  const message = `must be ${showValue(constant)}`
  return (value) => (isSame(value, constant) ? null : message)
}

function enumGate(schema: Json): Gate | null {
  const given = schema['enum']
  if (!Array.isArray(given)) return null
  const simple = new Set(given.filter((one) => typeof one !== 'object'))
  const others = given.filter((one) => typeof one === 'object')
  const message = `must be one of ${showAll(given)}`
  return (value) => (simple.has(value) || others.some((one) => isSame(value, one)) ? null : message)
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || isEqual(one, other)
}

/** As many values as are kept of a message, and not all that an enum may have. */
export function showAll(values: readonly unknown[]): string {
  const shown = values.slice(0, 50).map((value) => showValue(value))
  return [...shown, ...(values.length > shown.length ? ['…'] : [])].join(', ')
}

export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

// ── numbers

export function numberRules(walk: Walk, schema: Json): readonly Rule<number>[] {
  const compare = (
    word: string,
    sign: string,
    isWithin: (value: number, limit: number) => boolean,
  ): readonly Rule<number>[] => {
    const limit = schema[word]
    if (typeof limit !== 'number') return []
    return [(value, place) => isWithin(value, limit) || walk.refuse(place, `must be ${sign} ${limit}`)]
  }
  return [
    ...compare('minimum', '>=', (value, limit) => value >= limit),
    ...compare('maximum', '<=', (value, limit) => value <= limit),
    ...compare('exclusiveMinimum', '>', (value, limit) => value > limit),
    ...compare('exclusiveMaximum', '<', (value, limit) => value < limit),
    ...compare('multipleOf', 'multiple of', isMultiple),
  ]
}

/** Nearly: 19.99 / 0.01 is 1998.9999999999998. */
function isMultiple(value: number, unit: number): boolean {
  const times = value / unit
  return !(Math.abs(Math.round(times) - times) > 1e-4)
}

// ── texts

/**
 * Some libraries count the UTF-16 units of a text, others its characters, as JSON Schema does. A text is too short if it
 * is so in units, and too long if it is so in characters, of which there are never more: no text is refused that its
 * library accepts.
 */
export function textRules(walk: Walk, schema: Json): readonly Rule<string>[] {
  const { minLength, maxLength, pattern } = schema
  const rules: Rule<string>[] = []
  if (typeof minLength === 'number')
    rules.push(
      (value, place) =>
        value.length >= minLength || walk.refuse(place, `must NOT have fewer than ${minLength} characters`),
    )
  if (typeof maxLength === 'number')
    rules.push(
      (value, place) =>
        countCharacters(value, maxLength) <= maxLength ||
        walk.refuse(place, `must NOT have more than ${maxLength} characters`),
    )
  const expression = typeof pattern === 'string' ? makePattern(pattern) : null
  if (expression !== null)
    rules.push(
      (value, place) =>
        expression.test(value) || walk.refuse(place, `must match pattern ${showValue(pattern)}`),
    )
  return rules
}

/** Counts only if the number can matter. */
function countCharacters(text: string, limit: number): number {
  if (text.length <= limit) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}

/** As it is written in code, without flags, except what needs the flag `u`. Null if it is no pattern here. */
function makePattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, /\\[pPu]\{/.test(pattern) ? 'u' : '')
  } catch {
    return null
  }
}

/** The schemas of `patternProperties` with their patterns. */
export function patternsOf(schema: Json): readonly (readonly [RegExp, unknown])[] {
  const given = schema['patternProperties']
  if (!isJson(given)) return []
  return Object.entries(given).flatMap(([pattern, inner]) => {
    const expression = makePattern(pattern)
    return expression === null ? [] : [[expression, inner] as const]
  })
}

export function namesOf(value: unknown): readonly string[] {
  return listOf(value).filter((name) => typeof name === 'string')
}
