/** Whether `await` would wait for the value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/** Calls `onRejected` if a value is a promise that rejects, so that it is not an unhandled rejection. Returns whether it is a promise. */
export function catchRejection(value: unknown, onRejected: (error: unknown) => void): boolean {
  if (!isThenable(value)) return false
  void Promise.resolve(value).then(undefined, onRejected)
  return true
}
