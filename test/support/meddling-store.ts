import { type StoreCall, wrapCalls } from '@pawl/core/internal'
import { connectTo, defineStore, type Store, type WholeStore } from '@pawl/core/storage'

/** Does the call, as the store would have. */
export type Go = () => Promise<unknown>
/** Steps into a call: may do something before or after it, fail, or answer otherwise. */
export type Step = (go: Go, args: readonly unknown[], connection: WholeStore) => Promise<unknown>

/** A store whose calls a test may step into. */
export interface MeddlingStore {
  readonly store: Store
  /** The next call of this method that fits is for `step`; all others go as they would. */
  next(method: StoreCall, step: Step, fits?: (args: readonly unknown[]) => boolean): void
  /** As `next`, for every call from now on. */
  always(method: StoreCall, step: Step): void
}

interface Trap {
  readonly method: StoreCall
  readonly step: Step
  readonly fits: (args: readonly unknown[]) => boolean
  readonly stays: boolean
}

export function meddleWith(inner: Store): MeddlingStore {
  const traps = new Set<Trap>()
  const store = defineStore(inner.kind, () => {
    const connection = connectTo(inner) as WholeStore
    return wrapCalls(connection, (name, call) => (...args) => {
      const go = (): Promise<unknown> => call(...args) as Promise<unknown>
      const trap = [...traps].find(({ method, fits }) => method === name && fits(args))
      if (trap === undefined) return go()
      if (!trap.stays) traps.delete(trap)
      return trap.step(go, args, connection)
    })
  })
  return {
    store,
    next: (method, step, fits = () => true) => void traps.add({ method, step, fits, stays: false }),
    always: (method, step) => void traps.add({ method, step, fits: () => true, stays: true }),
  }
}
