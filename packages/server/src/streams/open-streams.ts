import { ServerError } from '../http/problem.ts'

const maxPerIdentity = 20
const maxInAll = 500

/** Counts open streams by identity. */
export class OpenStreams {
  readonly #counts = new Map<string, number>()
  #all = 0

  get count(): number {
    return this.#all
  }

  /**
   * Counts one more, until the returned function is called.
   * @throws ServerError 'too-many' beyond 20 of an identity or 500 in all
   */
  open(actor: string): () => void {
    const own = this.#counts.get(actor) ?? 0
    if (own >= maxPerIdentity) refuse(`${actor} has ${own} open streams, the maximum.`)
    if (this.#all >= maxInAll) refuse(`The server has ${this.#all} open streams, the maximum.`)
    this.#counts.set(actor, own + 1)
    this.#all++
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#all--
      const left = (this.#counts.get(actor) ?? 1) - 1
      if (left === 0) this.#counts.delete(actor)
      else this.#counts.set(actor, left)
    }
  }
}

function refuse(what: string): never {
  throw new ServerError('too-many', `${what} Close one, or retry later.`, {
    headers: { 'retry-after': '10' },
  })
}
