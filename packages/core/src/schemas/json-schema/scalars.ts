import { isEqual } from '../../base/equal.ts'
import { showValue } from '../../base/text.ts'
import { isJson, type Json, listOf, type Rule, type Walk } from './walk.ts'

/** Returns what is wrong with a value, or null. */
export type Gate = (value: unknown) => string | null

// ── any value

const types: { readonly [type: string]: (value: unknown) => boolean } = {
  // JSON has neither NaN nor infinities.
  number: Number.isFinite,
  integer: Number.isInteger,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isJson,
}

/** Builds the gates for `type`, `const` and `enum`: a value that one of them rejects is not checked further. */
export function gatesOf(schema: Json): readonly Gate[] {
  return [typeGate(schema), constGate(schema), enumGate(schema)].filter((gate) => gate !== null)
}

function typeGate(schema: Json): Gate | null {
  const names = typesOf(schema)
  const tests = names.map((name) => types[name])
  if (names.length === 0) return null
  // An unknown type, perhaps from a later draft.
  if (!tests.every((test) => test !== undefined)) return null
  const [only] = tests
  const message = `must be ${orList(names)}`
  if (tests.length === 1 && only !== undefined) return (value) => (only(value) ? null : message)
  return (value) => (tests.some((test) => test(value)) ? null : message)
}

/** Returns the types that a schema names. `nullable` comes from OpenAPI. */
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

/** Lists as many values as fit into a message. */
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

/** Allows for rounding: 19.99 / 0.01 is 1998.9999999999998. */
function isMultiple(value: number, unit: number): boolean {
  const times = value / unit
  return !(Math.abs(Math.round(times) - times) > 1e-4)
}

// ── texts

/**
 * Checks the length and pattern of a text.
 * Libraries count either UTF-16 units or characters (as JSON Schema does), and there are never more characters than
 * units. The minimum applies to units and the maximum to characters, so that a text accepted by its library passes.
 */
export function textRules(walk: Walk, schema: Json): readonly Rule<string>[] {
  const { minLength, maxLength, pattern } = schema
  const rules: Rule<string>[] = []
  if (typeof minLength === 'number')
    rules.push(
      (value, place) =>
        value.length >= minLength || walk.refuse(place, `must not have fewer than ${minLength} characters`),
    )
  if (typeof maxLength === 'number')
    rules.push(
      (value, place) =>
        countCharacters(value, maxLength) <= maxLength ||
        walk.refuse(place, `must not have more than ${maxLength} characters`),
    )
  const expression = typeof pattern === 'string' ? makePattern(pattern) : null
  if (expression !== null)
    rules.push(
      (value, place) =>
        expression.test(value) || walk.refuse(place, `must match pattern ${showValue(pattern)}`),
    )
  return rules
}

/** Counts characters only if the result can exceed the limit. */
function countCharacters(text: string, limit: number): number {
  if (text.length <= limit) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}

/** Compiles a pattern without flags, or with `u` if it requires that. Null if it is invalid. */
function makePattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, /\\[pPu]\{/.test(pattern) ? 'u' : '')
  } catch {
    return null
  }
}

/** Returns the schemas of `patternProperties` with their patterns. */
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
