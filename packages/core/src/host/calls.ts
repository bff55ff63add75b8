import { AsyncLocalStorage } from 'node:async_hooks'

/** Calls of foreign code, one after the other, which know whether they are called back. */
export class Calls {
  readonly #storage = new AsyncLocalStorage<object>()
  #current: object | undefined

  /** Calls a function and waits for its result. */
  async run<Result>(body: () => Result): Promise<Awaited<Result>> {
    const current = {}
    this.#current = current
    try {
      return await this.#storage.run(current, body)
    } finally {
      this.#current = undefined
    }
  }

  /** Whether this is asked by the call under way. What an earlier call has left behind is not inside. */
  get isInside(): boolean {
    return this.#current !== undefined && this.#storage.getStore() === this.#current
  }
}
