import type { StorePort } from './store/store.ts'

const connect = Symbol.for('@pawl/core/connect')

/** Where everything is kept. Made by `sqlite()`, `postgres()` or `memory()`. */
export interface Store {
  readonly kind: string
}

/** Makes the public, opaque face of a store: what `sqlite(file)` returns. Each engine and each client connects once. */
export function defineStore(kind: string, open: () => StorePort): Store {
  return Object.freeze({ kind, [connect]: open })
}

/** A connection to the store, not yet open; undefined if the value was not made by `defineStore`. */
export function connectTo(store: Store | null | undefined): StorePort | undefined {
  return (store as { [connect]?: () => StorePort } | null | undefined)?.[connect]?.()
}
