import { FinalError } from '@pawl/core'

/** The fields of the SDK's `APICallError` that an operator needs. */
interface ApiFailure {
  readonly statusCode?: unknown
  readonly isRetryable?: unknown
  readonly responseBody?: unknown
}

/**
 * Turns an error of a provider into one that is recorded with its status code. An error that the provider marks as not
 * retryable, and an abort, end the attempts.
 * @param isAborted whether the SDK has aborted the call, for example after its `timeout`
 */
export function describeFailure(error: unknown, isAborted: boolean): unknown {
  if (!(error instanceof Error)) return error
  const { statusCode, isRetryable: mayRetry } = error as ApiFailure
  const message = typeof statusCode === 'number' ? `${statusCode} ${error.message}` : error.message
  const code = typeof statusCode === 'number' ? `http-${statusCode}` : undefined
  if (isAborted || mayRetry === false || error.name === 'AbortError')
    return new FinalError(message, { cause: error, ...(code === undefined ? {} : { code }) })
  return code === undefined ? error : Object.assign(new Error(message, { cause: error }), { code })
}

/** Returns whether another attempt may succeed. */
export function isRetryable(error: unknown): boolean {
  return !(error instanceof FinalError)
}
