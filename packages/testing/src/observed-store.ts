import type { StorePort } from '@pawl/core/storage'

export interface StoreObserver {
  /** The process that holds the connection is no more: its calls reach nobody and are never answered. */
  isGone(): boolean
  /** A call has done its work; the caller does not know yet. */
  onCall(method: string, args: readonly unknown[], outcome: unknown): void
}

type Method = (...args: readonly unknown[]) => unknown

/** A connection between whose work and whose answer somebody may step. */
export function observeStore(store: StorePort, observer: StoreObserver): StorePort {
  const find = (_: StorePort, name: string | symbol): unknown => {
    const member: unknown = Reflect.get(store, name)
    return typeof member === 'function'
      ? observe(String(name), member.bind(store) as Method, observer)
      : member
  }
  return new Proxy(store, { get: find })
}

function observe(name: string, method: Method, observer: StoreObserver): Method {
  return (...args) => {
    if (observer.isGone()) return name === 'watch' ? () => {} : never()
    const answer = method(...args)
    if (!(answer instanceof Promise)) return answer
    return answer.then((outcome: unknown) => {
      observer.onCall(name, args, outcome)
      return observer.isGone() ? never() : outcome
    })
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}
