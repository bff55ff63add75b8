import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** One thing that another company did for us. */
export interface Entry {
  readonly what: string
  readonly key: string
}

/**
 * What the bank, the warehouse and the carrier did, as lines of a file. They keep the keys of requests: a request that is sent again
 * has no second effect, as with every service that takes an idempotency key.
 */
export class Ledger {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  do(what: string, key: string): void {
    if (this.entries().some((entry) => entry.key === key)) return
    appendFileSync(this.#file, `${JSON.stringify({ what, key } satisfies Entry)}\n`)
  }

  entries(): readonly Entry[] {
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
  }
}
