/** A resource to be removed at the end: a folder, a server. */
export interface Leftover {
  remove(): Promise<void> | void
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** Removes all added resources, on request or when a signal ends the process. */
export class Leftovers {
  readonly #all: Leftover[] = []
  readonly #onSignal = (): void => void this.remove().finally(() => process.exit(1))

  constructor() {
    for (const signal of signals) process.once(signal, this.#onSignal)
  }

  add<T extends Leftover>(leftover: T): T {
    this.#all.push(leftover)
    return leftover
  }

  /** In reverse order. */
  async remove(): Promise<void> {
    for (const signal of signals) process.off(signal, this.#onSignal)
    for (let next = this.#all.pop(); next !== undefined; next = this.#all.pop()) await next.remove()
  }
}
