import type { Store } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { sqlite } from '@pawl/storage-sqlite'

/** A store by its address, or the store that a config made. */
export function toStore(store: Store | string): Store {
  if (typeof store !== 'string') return store
  return /^postgres(ql)?:\/\//.test(store) ? postgres(store) : sqlite(store)
}

/** Says which store it is, without a password. */
export function describeStore(store: Store | string): string {
  if (typeof store !== 'string') return 'the store of the config'
  return store.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, '$1:***@')
}
