import { isWellFormed, repairText, showValue } from '../base/text.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { isSchema, type Schema } from '../schemas/schema.ts'

/**
 * Throws for an invalid option.
 * `option` is its readable name (`retry.attempts of step 'charge'`), `allowed` a sentence about the allowed values.
 * `shown` replaces the value in the message if the value itself does not show the problem.
 */
export function refuse(
  option: string,
  given: unknown,
  allowed: string,
  shown: string = showValue(given),
): never {
  throw new PawlError(
    'option-invalid',
    { option, given: shown },
    { what: `The option ${option} cannot be ${shown}.`, remedy: allowed },
  )
}

/** Returns the options, or `{}` if they are omitted. `option` may begin with an article. */
export function checkObject(
  option: string,
  value: unknown,
  allowed = 'It must be an object.',
): { readonly [name: string]: unknown } {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(option.replace(/^the /, ''), value, allowed)
  return value as { readonly [name: string]: unknown }
}

/** Returns the name of a part of an option: `retry.attempts of step` of `retry of step`. */
export function partOf(option: string, name: string): string {
  return option.replace(' ', () => `.${name} `)
}

/** Rejects unknown names: a misspelt option would otherwise be ignored. */
export function checkKeys(of: string, value: object, known: readonly string[]): void {
  for (const key of Object.keys(checkObject(of, value))) {
    if (known.includes(key)) continue
    const meant = findNearest(key, known)
    const hint = meant === undefined ? '' : `Did you mean ${meant}? `
    const what = `There is no option ${key} in ${of}.`
    throw new PawlError(
      'option-invalid',
      { option: key, given: key },
      { what, remedy: `${hint}Known options: ${known.join(', ')}.` },
    )
  }
}

/** Checks a stored name: 1 to 200 characters that every database can store. */
export function checkName(option: string, value: unknown): string {
  const text = checkText(option, value)
  if (text.length > 200) refuse(option, value, `It must have at most 200 characters; it has ${text.length}.`)
  if (/\p{Cc}/u.test(text)) refuse(option, value, 'It must not contain control characters.')
  return text
}

/** Checks a text that people only read, and replaces unpaired surrogates: a long text may have been cut in the middle of an emoji. */
export function checkShown(option: string, value: unknown): string {
  return repairText(checkFilled(option, value))
}

/** Checks a text that is compared: a name or an address. */
export function checkText(option: string, given: unknown): string {
  const value = checkFilled(option, given)
  if (!isWellFormed(value))
    refuse(option, value, 'It must be well-formed text: it contains an unpaired surrogate.')
  return value
}

function checkFilled(option: string, value: unknown): string {
  return typeof value === 'string' && value !== ''
    ? value
    : refuse(option, value, 'It must be a non-empty string.')
}

/** Checks an integer from `min` to `max`. */
export function checkWhole(option: string, value: unknown, min: number, max: number): number {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  if (!Number.isSafeInteger(value)) refuse(option, value, `It must be a whole number ${bounds}.`)
  const number = value as number
  if (number < min || number > max) refuse(option, value, `It must be a whole number ${bounds}.`)
  return number
}

/** Checks a number from `min` to `max`. */
export function checkNumber(option: string, value: unknown, min: number, max: number): number {
  const bounds = max === Number.MAX_VALUE ? `from ${min}` : `from ${min} to ${max}`
  const isWithin = typeof value === 'number' && value >= min && value <= max
  if (!isWithin) refuse(option, value, `It must be a number ${bounds}.`)
  return value
}

/** Checks a boolean. */
export function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') refuse(option, value, 'It must be true or false.')
  return value
}

/** Checks an enumeration. `others` names further allowed values, such as `{ default }`. */
export function checkOneOf<V extends string>(
  option: string,
  value: unknown,
  allowed: readonly V[],
  others: readonly string[] = [],
): V {
  const found = allowed.find((candidate) => candidate === value)
  const all = [...allowed.map((candidate) => `'${candidate}'`), ...others]
  return found ?? refuse(option, value, `It must be one of ${all.join(', ')}.`)
}

/** Checks an array. */
export function checkArray(option: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) refuse(option, value, 'It must be an array.')
  return value
}

/** Checks a function. */
export function checkFunction<F>(option: string, value: unknown): F {
  if (typeof value !== 'function') refuse(option, value, 'It must be a function.')
  return value as F
}

/** Checks a Standard Schema. */
export function checkSchema(option: string, value: unknown): Schema {
  const allowed = 'It must follow Standard Schema, as those of zod 4.2 and later, valibot and arktype do.'
  if (!isSchema(value)) refuse(option, value, allowed)
  return value
}

/** Checks an instant that a Date can hold. */
export function checkInstant(option: string, value: unknown): Date {
  if (!(value instanceof Date) || Number.isNaN(value.getTime()))
    refuse(option, value, 'It must be a valid Date.')
  return value
}

/** Returns the known name within an edit distance of two. */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= 2)
  return near.sort((one, other) => one.distance - other.distance)[0]?.candidate
}

/** Counts the letters to add, remove or change to turn one word into the other. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1]
    for (const [column, its] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === its ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
