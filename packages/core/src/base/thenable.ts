/** Whether `await` would wait for the value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}
