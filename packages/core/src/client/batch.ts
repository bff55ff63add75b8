import { setImmediateNative } from '../host/natives.ts'

/** As many items as one transaction takes. */
const mostItems = 1_000

/**
 * Gathers what many callers write within one round of the event loop into one transaction. Each gets the
 * outcome of its own item.
 */
export class Batch<Item, Outcome> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Outcome[]>
  #items: Waiting<Item, Outcome>[] = []
  #scheduled = false

  constructor(write: (items: readonly Item[]) => Promise<readonly Outcome[]>) {
    this.#write = write
  }

  add(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#items.push({ item, resolve, reject })
      if (this.#scheduled) return
      this.#scheduled = true
      setImmediateNative(() => this.#flush())
    })
  }

  #flush(): void {
    this.#scheduled = false
    const items = this.#items
    this.#items = []
    for (let from = 0; from < items.length; from += mostItems)
      this.#writeSome(items.slice(from, from + mostItems))
  }

  #writeSome(items: readonly Waiting<Item, Outcome>[]): void {
    this.#write(items.map(({ item }) => item)).then(
      (outcomes) => {
        for (const [i, { resolve }] of items.entries()) resolve(outcomes[i] as Outcome)
      },
      (error) => {
        for (const { reject } of items) reject(error)
      },
    )
  }
}

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}
