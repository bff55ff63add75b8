import type { StorePort } from '@pawl/core/storage'

export interface StoreObserver {
  /** Whether the process of the connection has ended. Its calls then have no effect and never settle. */
  isGone(): boolean
  /** Called after the store has done its work, before the caller gets the result. */
  onCall(method: string, args: readonly unknown[], outcome: unknown): void
}

type Method = (...args: readonly unknown[]) => unknown

/** Wraps a connection so that an observer can act between the work of a call and its result. */
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
