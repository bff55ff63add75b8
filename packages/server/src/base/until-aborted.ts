import { PawlError } from '@pawl/core'

/**
 * Waits for a promise until the caller has gone or the server stops.
 * @throws PawlError 'engine-stopped' if the signal aborts first
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const waiting = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new PawlError('engine-stopped', {}))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true, signal: waiting.signal })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    waiting.abort()
  }
}
