import type { Address, Place } from './place.ts'
import { PostgresPlace } from './postgres-place.ts'
import { SqlitePlace } from './sqlite-place.ts'

export function openPlace(address: Address): Place {
  return address.kind === 'sqlite' ? new SqlitePlace(address) : new PostgresPlace(address.url)
}
