import { refuse } from '@pawl/core/internal'
import { checkKeys, defineStore, type Store } from '@pawl/core/storage'
import { MemoryConnection } from './memory/connection.ts'
import { type AskRecord, makeTables } from './memory/tables.ts'
import { VirtualTime } from './virtual-time.ts'

export interface MemoryOptions {
  /** The store's clock, in ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number
}

/** How a memory store is put on virtual time. */
const timekeepers = new WeakMap<Store, Timekeeper>()

/** The asks of a memory store, for the people of a test. */
const asksByStore = new WeakMap<Store, readonly AskRecord[]>()

interface Timekeeper {
  time: VirtualTime | null
  /** The last time it told: a clock does not go back. */
  told: number
}

/**
 * Keeps nothing on disk. All connections to one value share what it holds, as processes share a database.
 * @example
 * const engine = await createEngine({ store: memory(), procedures: [refund] })
 */
export function memory(options: MemoryOptions = {}): Store {
  checkKeys('the options of memory', options, ['now'])
  if (options.now !== undefined && typeof options.now !== 'function')
    refuse('now of memory', options.now, 'It must be a function that gives ms since 1970.')
  const tables = makeTables()
  const timekeeper: Timekeeper = { time: null, told: Number.NEGATIVE_INFINITY }
  const now = (): number => {
    timekeeper.told = timekeeper.time?.clock.now ?? options.now?.() ?? Date.now()
    return timekeeper.told
  }
  const store = defineStore('memory', () => new MemoryConnection(tables, now))
  timekeepers.set(store, timekeeper)
  asksByStore.set(store, tables.asks)
  return store
}

/** The virtual time of a memory store, on which it is from now on; all engines on the store share it. Undefined for other stores. */
export function virtualTimeOf(store: Store, now: number): VirtualTime | undefined {
  const timekeeper = timekeepers.get(store)
  if (timekeeper !== undefined) timekeeper.time ??= new VirtualTime(Math.max(now, timekeeper.told))
  return timekeeper?.time ?? undefined
}

/** Every ask there ever is in a memory store, in the order they are opened: it grows. */
export function asksIn(store: Store): readonly AskRecord[] {
  return asksByStore.get(store) ?? []
}
