import { refuse } from '@pawl/core/internal'
import {
  defineStore,
  optional,
  readOptions,
  type Spec,
  type Store,
  type WholeStore,
} from '@pawl/core/storage'
import { createStore } from './memory/store.ts'
import { type AskRecord, makeTables, type Tables } from './memory/tables.ts'
import { VirtualTime } from './virtual-time.ts'

/** Options of `memory`. */
export interface MemoryOptions {
  /** Returns the time of the store, in ms since 1970. Default: `Date.now`. `testEngine` uses virtual time instead. */
  readonly now?: () => number
}

const memoryOptions = { now: optional(checkNow, () => Date.now()) } satisfies Spec<MemoryOptions>

/** Holds the tables and the clock of a memory store. */
export class Memory {
  readonly #tables: Tables = makeTables()
  readonly #realNow: () => number
  #time: VirtualTime | null = null
  /** Last time read: virtual time must not start before it. */
  #lastRead = Number.NEGATIVE_INFINITY

  constructor(realNow: () => number) {
    this.#realNow = realNow
  }

  /** All asks, in the order in which they were opened. The list grows. */
  get asks(): readonly AskRecord[] {
    return this.#tables.asks
  }

  /** Opens a connection. Connections of the same process give each other no hints. */
  connect(process: object): WholeStore {
    return createStore(this.#tables, () => this.#now(), process)
  }

  /** Switches the store to virtual time, and returns it. All engines on the store share it. */
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
 * Creates a store that keeps runs in memory. All engines and clients on the same value share its runs.
 * The runs are lost when the process ends.
 * @throws PawlError 'option-invalid'
 * @example
 * const engine = await createEngine({ store: memory(), procedures: [refund] })
 */
export function memory(options: MemoryOptions = {}): Store {
  const { now } = readOptions('of memory', options, memoryOptions)
  const kept = new Memory(now)
  const store = defineStore('memory', () => kept.connect({}))
  memories.set(store, kept)
  return store
}

function checkNow(option: string, now: unknown): () => number {
  if (typeof now !== 'function') refuse(option, now, 'It must be a function that returns ms since 1970.')
  return now as () => number
}

/** Returns the memory behind a store, or undefined if it is another store. */
export function memoryOf(store: Store): Memory | undefined {
  return memories.get(store)
}
