import { type StoreCall, type StoreMethod, wrapCalls } from '@pawl/core/internal'
import type { WholeStore } from '@pawl/core/storage'

export interface StoreObserver {
  /** Whether the process of the connection has ended. Its calls then have no effect and never settle. */
  isGone(): boolean
  /** Called after the store has done its work, before the caller gets the result. */
  onCall(call: StoreCall, args: readonly unknown[], outcome: unknown): void
}

/** Wraps a connection so that an observer can act between the work of a call and its result. */
export function observeStore(store: WholeStore, observer: StoreObserver): WholeStore {
  return wrapCalls(store, (name, call) => observe(name, call, observer))
}

function observe(name: StoreCall, call: StoreMethod, observer: StoreObserver): StoreMethod {
  return (...args) => {
    if (observer.isGone()) return name === 'watch' ? () => {} : never()
    const answer = call(...args)
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
