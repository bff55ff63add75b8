import { keepContext } from '../host/natives.ts'
import { rounds } from '../host/rounds.ts'

/** Maximum items in one transaction: a store may run it synchronously and block the event loop. */
const maxItems = 250
/** Work of one item, in rows, including the reaction of the caller and the worker to its outcome. */
const workOfItem = 4
/** Maximum bytes in one transaction, unless a single item has more. */
const maxBytes = 8 * 2 ** 20
/** Maximum concurrent transactions: a store has more connections, and its worker needs them. */
const maxInFlight = 2

export interface BatchOptions<Item, Outcome, Context> {
  /** Called once for all items of a round of the event loop, regardless of the number of transactions. */
  readonly begin: () => Context
  /** Returns one outcome per item, in order. */
  readonly write: (items: readonly Item[], context: Context) => Promise<readonly Outcome[]>
  /** Returns the payload bytes of an item. */
  readonly sizeOf: (item: Item) => number
}

/**
 * Combines the writes of many callers in one round of the event loop into one transaction.
 * Each caller gets the outcome of its own item. Items beyond the limits follow in the next rounds, in order; items that
 * arrive while two transactions are in flight are combined into the next one.
 */
export class Batch<Item, Outcome, Context> {
  readonly #options: BatchOptions<Item, Outcome, Context>
  #items: Waiting<Item, Outcome, Context>[] = []
  #context: { readonly value: Context } | null = null
  #isScheduled = false
  #inFlight = 0

  constructor(options: BatchOptions<Item, Outcome, Context>) {
    this.#options = options
  }

  add(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#context ??= { value: this.#options.begin() }
      this.#items.push({ item, context: this.#context.value, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#items.length === 0 || this.#inFlight === maxInFlight) return
    this.#isScheduled = true
    // The transaction runs in its first caller's context, so that tracing and a step body that starts runs see it.
    const inContext = keepContext()
    rounds.add({
      weigh: () => Math.min(this.#items.length, maxItems) * workOfItem,
      run: () => inContext(() => this.#flush()),
    })
  }

  #flush(): number {
    this.#isScheduled = false
    this.#context = null
    const items = this.#items.splice(0, this.#countFitting())
    this.#inFlight++
    this.#schedule()
    this.#write(items)
    return items.length * workOfItem
  }

  #onWritten(): void {
    this.#inFlight--
    this.#schedule()
  }

  /** Counts the items of the next transaction: at least one, and none of another round. */
  #countFitting(): number {
    if (this.#items.length === 1) return 1
    const [first] = this.#items
    let count = 0
    let bytes = 0
    for (const { item, context } of this.#items) {
      bytes += this.#options.sizeOf(item)
      if (count === maxItems || (count > 0 && (bytes > maxBytes || context !== first?.context))) break
      count++
    }
    return count
  }

  #write(items: readonly Waiting<Item, Outcome, Context>[]): void {
    const { context } = items[0] as Waiting<Item, Outcome, Context>
    const given = items.map(({ item }) => item)
    this.#options.write(given, context).then(
      (outcomes) => {
        this.#onWritten()
        for (let i = 0; i < items.length; i++) items[i]?.resolve(outcomes[i] as Outcome)
      },
      (error) => {
        this.#onWritten()
        for (const { reject } of items) reject(error)
      },
    )
  }
}

interface Waiting<Item, Outcome, Context> {
  readonly item: Item
  readonly context: Context
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}
