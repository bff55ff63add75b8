import { nameSources } from '../base/source-names.ts'
import { clipText, repairText, showValue } from '../base/text.ts'
import { explain, isErrorCode } from './catalogue.ts'
import type { ErrorCode, ErrorDetails, Failure } from './error-details.ts'
import { PawlError } from './pawl-error.ts'

/** An error as plain data, as the log stores it. The stack is for people and is never compared. */
export interface FailureRecord {
  readonly name: string
  readonly message: string
  readonly code?: string
  /** Only set for a PawlError. */
  readonly details?: unknown
  /** The frames, without the first line that repeats name and message. */
  readonly stack?: string
  readonly cause?: FailureRecord
  /** The first of the errors that an AggregateError holds. */
  readonly errors?: readonly FailureRecord[]
}

/** Why a run is marked as stuck or quarantined, as the store keeps it. */
export interface MarkRecord extends FailureRecord {
  /** The place in the author's code; empty if it is unknown. */
  readonly at?: string
  /** By the store's clock, in ms. */
  readonly triedAt?: number
}

// In UTF-16 units. A unit takes at most three bytes of UTF-8, so that a record stays below 64 KiB.
const limits = {
  all: 20_000,
  word: 200,
  message: 8_000,
  details: 4_000,
  detail: 1_000,
  stack: 4_000,
} as const
const maxCauseDepth = 8
const maxErrors = 5
/** The maximum depth of nested aggregates. */
const maxErrorsDepth = 2
const maxDetailDepth = 8

/** Converts any thrown value to plain data of at most 64 KiB. Never throws. */
export function recordFailure(error: unknown): FailureRecord {
  return record(error, new Allowance(limits.all), new Set(), 0)
}

/** Returns the public part of a record. Appends the messages of its causes if its own message lacks them. */
export function failureOf(record: FailureRecord): Failure {
  const { name, message, code } = record
  return { name, message: message + tellBehind(record, message), code }
}

/** Returns a failure for people who read no code: without the remedies with which messages of Pawl's errors end. */
export function tellFailure(record: FailureRecord): Failure {
  const told = failureOf(record)
  const message = remediesIn(record).reduce((text, remedy) => text.replaceAll(` ${remedy}`, ''), told.message)
  return { ...told, message }
}

/** The remedies that the messages of a failure and of its causes may contain. */
function remediesIn({ name, code, details, cause }: FailureRecord): readonly string[] {
  const below = cause === undefined ? [] : remediesIn(cause)
  if (name !== 'PawlError' || !isErrorCode(code) || typeof details !== 'object' || details === null)
    return below
  return [...remedyOf(code, details), ...below]
}

function remedyOf<C extends ErrorCode>(code: C, details: object): readonly string[] {
  try {
    return [explain(code, details as ErrorDetails[C]).remedy]
  } catch {
    // Details in a record may be cut: without them the message stays as it is.
    return []
  }
}

/** Appends causes: `fetch failed` says little without `connect ECONNREFUSED 127.0.0.1:443`. */
function tellBehind({ errors = [], cause }: FailureRecord, reported: string): string {
  const several = new Set(errors.map(wordsOf).filter((words) => words !== '' && !reported.includes(words)))
  const text = several.size === 0 ? '' : ` (${[...several].join('; ')})`
  if (cause === undefined) return text
  const words = wordsOf(cause)
  const isNew = words !== '' && !(reported + text).includes(words)
  return text + (isNew ? ` (${words})` : '') + tellBehind(cause, reported + text + words)
}

/** Returns the message, or the code if it is empty: a failed connection to several addresses has only a code. */
function wordsOf({ message, code = '' }: FailureRecord): string {
  return message === '' ? code : message
}

const revived = new WeakSet<object>()

/** Whether {@link reviveFailure} created the error: then it is the result of an operation, not a fault of the procedure. */
export function isRevived(error: object): boolean {
  return revived.has(error)
}

/**
 * Creates an error from a record.
 * Returns a {@link PawlError} if the record has a known code of Pawl, otherwise an Error with its name, message and
 * code. The stack is the recorded one, so that a live run and a replay see the same.
 */
export function reviveFailure(failure: FailureRecord): Error {
  const { name, message, code, details } = failure
  const options = failure.cause === undefined ? {} : { cause: reviveFailure(failure.cause) }
  const isOurs = name === 'PawlError' && isErrorCode(code) && typeof details === 'object' && details !== null
  const error = isOurs ? revivePawlError(code, details, message, options) : new Error(message, options)
  if (!isOurs) defineHidden(error, 'name', name)
  if (!isOurs && code !== undefined) Object.assign(error, { code })
  if (failure.errors !== undefined) defineHidden(error, 'errors', failure.errors.map(reviveFailure))
  revived.add(error)
  defineHidden(
    error,
    'stack',
    `${name}: ${message}${failure.stack === undefined ? '' : `\n${failure.stack}`}`,
  )
  return error
}

function revivePawlError<C extends ErrorCode>(
  code: C,
  details: object,
  message: string,
  options: { readonly cause?: Error },
): Error {
  return new PawlError(code, details as ErrorDetails[C], { message, ...options })
}

function defineHidden(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false })
}

function record(error: unknown, allowance: Allowance, seen: Set<unknown>, depth: number): FailureRecord {
  seen.add(error)
  const message = read(error, 'message')
  if (typeof message !== 'string')
    return { name: 'Error', message: allowance.take(describeThrown(error), limits.message) }

  const given = {
    name: read(error, 'name'),
    code: read(error, 'code'),
    stack: read(error, 'stack'),
    cause: read(error, 'cause'),
    errors: read(error, 'errors'),
  }
  const name = typeof given.name === 'string' && given.name !== '' ? given.name : 'Error'
  const code =
    typeof given.code === 'string' || typeof given.code === 'number' ? String(given.code) : undefined
  const hasCause =
    given.cause !== undefined && given.cause !== null && !seen.has(given.cause) && depth < maxCauseDepth
  return {
    name: allowance.take(name, limits.word),
    message: allowance.take(message, limits.message),
    ...(code === undefined ? {} : { code: allowance.take(code, limits.word) }),
    ...(isPawlError(error)
      ? { details: copyPlain(read(error, 'details'), allowance.share(limits.details), 0) }
      : {}),
    ...(typeof given.stack === 'string'
      ? { stack: allowance.take(nameSources(framesOf(given.stack, name, message)), limits.stack) }
      : {}),
    ...(hasCause ? { cause: record(given.cause, allowance, seen, depth + 1) } : {}),
    ...recordSeveral(given.errors, allowance, seen, depth + 1),
  }
}

function recordSeveral(
  given: unknown,
  allowance: Allowance,
  seen: Set<unknown>,
  depth: number,
): Pick<FailureRecord, 'errors'> {
  if (!Array.isArray(given) || depth > maxErrorsDepth) return {}
  const errors: FailureRecord[] = []
  for (const error of given.slice(0, maxErrors)) {
    if (allowance.isUsedUp) break
    if (!seen.has(error) && typeof read(error, 'message') === 'string')
      errors.push(record(error, allowance, seen, depth))
  }
  return errors.length === 0 ? {} : { errors }
}

function describeThrown(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : `${showValue(thrown)} was thrown, which is not an error`
}

/** Reads a property; returns undefined if reading throws. */
function read(holder: unknown, key: string): unknown {
  if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null) return undefined
  try {
    return (holder as { readonly [key: string]: unknown })[key]
  } catch {
    return undefined
  }
}

function isPawlError(error: unknown): boolean {
  try {
    return PawlError.is(error)
  } catch {
    return false
  }
}

function framesOf(stack: string, name: string, message: string): string {
  const heading = `${name}: ${message}\n`
  return stack.startsWith(heading)
    ? stack.slice(heading.length)
    : stack.slice(Math.max(0, stack.search(/^ {4}at /m)))
}

/** Copies plain data within the allowance and omits everything else. */
function copyPlain(value: unknown, allowance: Allowance, depth: number): unknown {
  if (typeof value === 'string') return allowance.take(value, limits.detail)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object' || depth === maxDetailDepth) return undefined
  if (value instanceof Date) return new Date(value)
  if (Array.isArray(value)) return copyItems(value, allowance, depth)
  const entries: [string, unknown][] = []
  for (const key of Object.keys(value)) {
    if (!allowance.spend(10 + key.length)) break
    entries.push([repairText(key), copyPlain(read(value, key), allowance, depth + 1)])
  }
  return Object.fromEntries(entries)
}

/** Copies items until one exceeds the allowance; that item and the rest are omitted. */
function copyItems(items: readonly unknown[], allowance: Allowance, depth: number): unknown[] {
  const copies: unknown[] = []
  for (const item of items) {
    const copy = allowance.spend(10) ? copyPlain(item, allowance, depth + 1) : undefined
    if (allowance.isUsedUp) break
    copies.push(copy)
  }
  return copies
}

/** Tracks the remaining budget of characters. */
class Allowance {
  isUsedUp = false
  private left: number

  constructor(limit: number) {
    this.left = limit
  }

  take(text: string, limit: number): string {
    const room = Math.min(limit, this.left)
    const kept = clipText(repairText(text), room)
    this.left -= kept.length
    if (room < limit && kept.length < text.length) this.isUsedUp = true
    return kept
  }

  spend(cost: number): boolean {
    if (cost > this.left) {
      this.isUsedUp = true
      return false
    }
    this.left -= cost
    return true
  }

  /** Reserves a part of the budget. */
  share(limit: number): Allowance {
    const part = new Allowance(Math.min(limit, this.left))
    this.left -= part.left
    return part
  }
}
