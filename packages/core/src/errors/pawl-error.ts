import { docsPage } from '../base/docs.ts'
import { explain } from './catalogue.ts'
import type { ErrorCode, ErrorDetails } from './error-details.ts'

// Copies of the package and realms share the symbol registry, but not classes.
const marker = Symbol.for('@pawl/core/error')

/** Replaces sentences of the catalogue with more specific ones, and sets the cause. */
export interface ErrorOverrides {
  readonly what?: string
  readonly next?: string
  readonly remedy?: string
  /** Replaces the whole message, for an error that comes from the log. */
  readonly message?: string
  readonly cause?: unknown
}

/**
 * The error class of Pawl: every error has a `code` and typed `details`.
 * @example
 * catch (error) {
 *   if (PawlError.is(error, 'ask-closed')) return `already answered by ${error.details.winner?.by}`
 *   throw error
 * }
 */
export class PawlError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails[C]
  /** The URL of the docs page for this code, such as `https://pawl.dev/docs/errors/ask-closed`. */
  readonly help: string

  constructor(code: C, details: ErrorDetails[C], overrides: ErrorOverrides = {}) {
    super(
      overrides.message ?? composeMessage(code, details, overrides),
      'cause' in overrides ? { cause: overrides.cause } : undefined,
    )
    this.code = code
    this.details = details
    this.help = docsPage(`errors/${code}`)
  }

  /** Returns the error as JSON, for HTTP responses and logs; JSON.stringify omits name and message of other errors. */
  toJSON(): Pick<PawlError<C>, 'name' | 'code' | 'message' | 'details' | 'help'> {
    const { name, code, message, details, help } = this
    return { name, code, message, details, help }
  }

  /**
   * Returns whether a value is a PawlError, with that code if one is given.
   * Also recognizes errors that another copy of the package created. Without a code, a `switch` on `error.code` narrows
   * `error.details`.
   */
  static is<C extends ErrorCode = ErrorCode>(
    error: unknown,
    code?: C,
  ): error is { [Code in C]: PawlError<Code> }[C] {
    if (typeof error !== 'object' || error === null || !(marker in error)) return false
    return code === undefined || (error as { readonly code?: unknown }).code === code
  }
}

// On the prototype, so that printing an error shows only its message and fields.
Object.defineProperty(PawlError.prototype, 'name', { value: 'PawlError', writable: true, configurable: true })
Object.defineProperty(PawlError.prototype, marker, { value: true })

function composeMessage<C extends ErrorCode>(
  code: C,
  details: ErrorDetails[C],
  overrides: ErrorOverrides,
): string {
  const { what, next, remedy } = { ...explain(code, details), ...overrides }
  return [what, next, remedy].filter((sentence) => sentence !== '').join(' ')
}
