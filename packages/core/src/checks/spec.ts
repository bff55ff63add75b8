import { parseDuration } from './duration.ts'
import { checkKeys, checkNumber, checkObject, checkOneOf, checkWhole } from './options.ts'

/** Checks one option and returns its meaning. `option` is its name in messages, such as 'timeout of signal'. */
export type Check<V> = (option: string, value: unknown) => V

/** How an option is read. All rows have the same shape, since steps read options often. */
export interface Row<V> {
  readonly check: Check<V>
  /** Whether an omitted option is checked, too. */
  readonly isRequired: boolean
  /** Whether an omitted option is left out of what is read. */
  readonly isLeftOut: boolean
  /** What an omitted option is read as, otherwise. */
  readonly otherwise: unknown
}

export interface KeptRow<V, D> extends Row<V> {
  readonly isLeftOut: false
  readonly otherwise: D
}

/**
 * A row for each option of the interface `O`, in the order of messages. An option without a row does not compile.
 * @example const stopOptions = { within: optional(milliseconds, 10_000) } satisfies Spec<StopOptions>
 */
export type Spec<O> = { readonly [K in KeyOfAny<O>]-?: Row<unknown> }

/** The options of all members of a union. */
type KeyOfAny<O> = O extends unknown ? keyof O : never

/** Rows that are read as `V`: for specs that others build on. */
export type RowsOf<V> = {
  readonly [K in keyof V]-?: undefined extends V[K] ? Row<Exclude<V[K], undefined>> : KeptRow<V[K], V[K]>
}

export interface Rows {
  readonly [name: string]: Row<unknown>
}

type KeptIn<S> = { readonly [K in keyof S]: S[K] extends { readonly isLeftOut: false } ? K : never }[keyof S]
type ReadAs<R> = R extends KeptRow<infer V, infer D> ? V | D : R extends Row<infer V> ? V : never

/** The options, as read by their rows. */
export type Values<S> = { readonly [K in KeptIn<S>]: ReadAs<S[K]> } & {
  readonly [K in Exclude<keyof S, KeptIn<S>>]?: ReadAs<S[K]>
}

/** Describes an option that must be given. */
export function required<V>(check: Check<V>): KeptRow<V, never> {
  return { check, isRequired: true, isLeftOut: false, otherwise: undefined as never }
}

/** Describes an option that may be omitted: then it is left out, or is read as `otherwise`. */
export function optional<V>(check: Check<V>): Row<V>
export function optional<V, const D>(check: Check<V>, otherwise: D): KeptRow<V, D>
export function optional<V>(check: Check<V>, ...given: readonly unknown[]): Row<V> {
  return { check, isRequired: false, isLeftOut: given.length === 0, otherwise: given[0] }
}

/**
 * Reads an argument that consists of options. Those 'of run' are called 'id of run' in messages, and all of them the `label`.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readOptions<S extends Rows>(
  of: string,
  given: unknown,
  spec: S,
  label: string = `the options ${of}`,
): Values<S> {
  return readRows('', ` ${of}`, given, spec, label)
}

/** Reads an option that consists of options: those of 'retry of step' are called 'retry.attempts of step'. */
export function readPart<S extends Rows>(
  option: string,
  given: unknown,
  spec: S,
  label: string = option,
): Values<S> {
  const space = option.indexOf(' ')
  return readRows(`${option.slice(0, space)}.`, option.slice(space), given, spec, label)
}

function readRows<S extends Rows>(
  before: string,
  of: string,
  given: unknown,
  spec: S,
  label: string,
): Values<S> {
  const options = checkObject(label, given)
  for (const name in options) if (!Object.hasOwn(spec, name)) checkKeys(label, options, Object.keys(spec))
  const values: { [name: string]: unknown } = {}
  for (const name in spec) {
    const row = spec[name] as Row<unknown>
    const value = options[name]
    if (value !== undefined || row.isRequired) values[name] = row.check(before + name + of, value)
    else if (!row.isLeftOut) values[name] = row.otherwise
  }
  return values as Values<S>
}

/** Checks a duration and returns it in ms. */
export function milliseconds(option: string, value: unknown): number {
  return parseDuration(value, option)
}

/** Accepts any value. */
export function anything(_option: string, value: unknown): unknown {
  return value
}

/** Creates a check of whole numbers. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Check<number> {
  return (option, value) => checkWhole(option, value, min, max)
}

/** Creates a check of numbers. */
export function number(min: number, max: number = Number.MAX_VALUE): Check<number> {
  return (option, value) => checkNumber(option, value, min, max)
}

/** Creates a check of words. */
export function oneOf<const V extends string>(allowed: readonly V[]): Check<V> {
  return (option, value) => checkOneOf(option, value, allowed)
}
