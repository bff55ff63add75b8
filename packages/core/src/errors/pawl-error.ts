import { docsPage } from '../base/docs.ts'
import { explain } from './catalogue.ts'
import type { ErrorCode, ErrorDetails } from './error-details.ts'

// The registry of symbols is shared by all copies of the package and all realms; classes are not.
const marker = Symbol.for('@pawl/core/error')

/** Sentences that say more than those of the catalogue, and what the error came from. */
export interface ErrorOverrides {
  readonly what?: string
  readonly next?: string
  readonly remedy?: string
  /** The whole message, in place of the three sentences: for an error that comes from the log. */
  readonly message?: string
  readonly cause?: unknown
}

/**
 * The one error class.
 * @example
 * catch (error) {
 *   if (PawlError.is(error, 'ask-closed')) return `${error.details.winner?.by} was faster`
 *   throw error
 * }
 */
export class PawlError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails[C]
  /** The address of the page about this code, such as `https://pawl.dev/docs/errors/ask-closed`. */
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

  /** For answers over HTTP and for logs: JSON keeps neither name nor message of other errors. */
  toJSON(): Pick<PawlError<C>, 'name' | 'code' | 'message' | 'details' | 'help'> {
    const { name, code, message, details, help } = this
    return { name, code, message, details, help }
  }

  /**
   * Whether it is an error of Pawl, and of that code; also if another copy of the package made it. Without a code, `error.code`
   * tells in a `switch` what `error.details` are.
   */
  static is<C extends ErrorCode = ErrorCode>(
    error: unknown,
    code?: C,
  ): error is { [Code in C]: PawlError<Code> }[C] {
    if (typeof error !== 'object' || error === null || !(marker in error)) return false
    return code === undefined || (error as { readonly code?: unknown }).code === code
  }
}

// On the prototype, so that printing an error shows what it says and nothing else.
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
