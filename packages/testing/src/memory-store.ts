import { refuse } from '@pawl/core/internal'
import { checkKeys, defineStore, type Store, type StorePort } from '@pawl/core/storage'
import { createStore } from './memory/store.ts'
import { type AskRecord, makeTables, type Tables } from './memory/tables.ts'
import { VirtualTime } from './virtual-time.ts'

/** The options of `memory`. */
export interface MemoryOptions {
  /** Clock of the store, in ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number
}

/** A memory store from the inside, for the engines of a test. */
export class Memory {
  readonly #tables: Tables = makeTables()
  readonly #realNow: () => number
  #time: VirtualTime | null = null
  /** The last time it told: a clock does not go back. */
  #lastRead = Number.NEGATIVE_INFINITY

  constructor(realNow: () => number) {
    this.#realNow = realNow
  }

  /** Every ask there is, in the order they were opened: it grows. */
  get asks(): readonly AskRecord[] {
    return this.#tables.asks
  }

  /** Connections of one process give each other no hints. */
  connect(process: object): StorePort {
    return createStore(this.#tables, () => this.#now(), process)
  }

  /** The time it is on from now on; all engines on it share it. */
  virtualTime(now: number): VirtualTime {
    this.#time ??= new VirtualTime(Math.max(now, this.#lastRead))
    return this.#time
  }

  #now(): number {
    this.#lastRead = this.#time?.clock.now ?? this.#realNow()
    return this.#lastRead
  }
}

const memories = new WeakMap<Store, Memory>()

/**
 * Keeps runs in memory. All engines and clients on one value share them, as processes share a database.
 * @example
 * const engine = await createEngine({ store: memory(), procedures: [refund] })
 */
export function memory(options: MemoryOptions = {}): Store {
  checkKeys('the options of memory', options, ['now'])
  if (options.now !== undefined && typeof options.now !== 'function')
    refuse('now of memory', options.now, 'It must be a function that gives ms since 1970.')
  const kept = new Memory(() => options.now?.() ?? Date.now())
  const store = defineStore('memory', () => kept.connect({}))
  memories.set(store, kept)
  return store
}

/** Undefined for other stores. */
export function memoryOf(store: Store): Memory | undefined {
  return memories.get(store)
}
