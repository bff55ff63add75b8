import type { ErrorCode } from './error-details.ts'
import { isRevived } from './failure.ts'
import { PawlError } from './pawl-error.ts'

/** The source text of each constructor: the same in every realm, and different from any user-defined class. */
const builtIns: ReadonlyMap<string, string> = new Map(
  [TypeError, ReferenceError, SyntaxError, RangeError].map((type) => [type.name, sourceOf(type)]),
)

/** Errors that Pawl throws for a call that the author's code must not make. */
const misuses: readonly ErrorCode[] = [
  'duration-invalid',
  'nondeterministic-call',
  'option-invalid',
  'payload-refused',
]

/**
 * Returns whether an error of a procedure is a programming error, which the next deploy may fix.
 * That is the runtime's own TypeError, ReferenceError, SyntaxError or RangeError (of any realm, no subclass), an
 * AssertionError, or a misuse of Pawl. The recorded failure of an operation never counts: it is a result. Never throws.
 */
export function isBug(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || isRevived(error)) return false
  try {
    if (PawlError.is(error)) return misuses.includes(error.code)
    return isBuiltIn(error) || (error as { readonly name?: unknown }).name === 'AssertionError'
  } catch {
    return false
  }
}

/** Checks the prototype's own constructor: the error may have any property, and a subclass inherits others. */
function isBuiltIn(error: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(error)
  if (prototype === null || !Object.hasOwn(prototype, 'constructor')) return false
  const made: unknown = prototype.constructor
  return typeof made === 'function' && builtIns.get(made.name) === sourceOf(made)
}

// biome-ignore lint/complexity/noBannedTypes: any function
function sourceOf(code: Function): string {
  return Function.prototype.toString.call(code)
}
