import type { StorePort } from './store/store.ts'

const connect = Symbol.for('@pawl/core/connect')

/** A store of runs, asks and messages, created by `sqlite()`, `postgres()` or `memory()`. */
export interface Store {
  readonly kind: string
}

/** Creates the public, opaque handle of a store, such as `sqlite(file)` returns. Each engine and each client connects once. */
export function defineStore(kind: string, open: () => StorePort): Store {
  return Object.freeze({ kind, [connect]: open })
}

/** Returns a new connection, not yet opened, or undefined if `defineStore` did not create the value. */
export function connectTo(store: Store | null | undefined): StorePort | undefined {
  return (store as { [connect]?: () => StorePort } | null | undefined)?.[connect]?.()
}
