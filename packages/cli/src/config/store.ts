import type { Store } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { sqlite } from '@pawl/storage-sqlite'

/** A store by its address, or the store that a config made. */
export function toStore(store: Store | string): Store {
  if (typeof store !== 'string') return store
  return isPostgres(store) ? postgres(store) : sqlite(store)
}

/** Whether an address is one of PostgreSQL. Any other is a path. */
export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address)
}

/** Says which store it is, without a password. */
export function describeStore(store: Store | string): string {
  if (typeof store !== 'string') return 'the store of the config'
  return store.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, '$1:***@')
}
