import { defineStore, type Store } from '@pawl/core/storage'
import { MemoryConnection } from './memory/connection.ts'
import { makeTables } from './memory/tables.ts'

export interface MemoryOptions {
  /** The store's clock, in ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number
}

/**
 * Keeps nothing on disk. All connections to one value share what it holds, as processes share a database.
 * @example
 * const engine = await createEngine({ store: memory(), procedures: [refund] })
 */
export function memory(options: MemoryOptions = {}): Store {
  const tables = makeTables()
  const now = options.now ?? Date.now
  return defineStore('memory', () => new MemoryConnection(tables, now))
}
