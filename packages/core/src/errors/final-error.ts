// Copies of the package and realms share the symbol registry, but not classes.
const marker = Symbol.for('@pawl/core/final-error')

/** Makes a step fail without further retries. @example throw new FinalError('card stolen', { code: 'stolen' }) */
export class FinalError extends Error {
  readonly code: string | undefined

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    if (typeof options !== 'object' || options === null)
      throw new TypeError(
        "new FinalError(message, options): options must be an object, such as { code: 'stolen' }.",
      )
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = options.code
  }
}

Object.defineProperty(FinalError.prototype, 'name', {
  value: 'FinalError',
  writable: true,
  configurable: true,
})
Object.defineProperty(FinalError.prototype, marker, { value: true })

/** Returns whether an error is a {@link FinalError}, even if another copy of the package created it. */
export function isFinalError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && marker in error
}
