import type { Store } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { sqliteStore } from '../sqlite.ts'

/** @param location a file, or the URL of a PostgreSQL database */
export function openStore(location: string): Store {
  return location.startsWith('postgres:') ? postgres(location) : sqliteStore(location)
}
