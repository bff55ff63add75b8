import { NotSent } from '../faults.ts'
import type { Clients, Query, Session } from './clients.ts'

/**
 * A connection reserved for one purpose, so that it is available when all others are in use. Connects at first use
 * and again after a failure. Runs one statement at a time.
 */
export class ReservedConnection {
  readonly #clients: Clients
  #session: Session | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(clients: Clients) {
    this.#clients = clients
  }

  run<Row>(query: Query): Promise<readonly Row[]> {
    const result = this.#last.then(() => this.#runAlone<Row>(query))
    this.#last = result.catch(() => {})
    return result
  }

  async #runAlone<Row>(query: Query): Promise<readonly Row[]> {
    const session = await this.#connect()
    session.client.ref?.()
    try {
      return await session.query<Row>(query)
    } finally {
      if (session.isBroken) this.#drop()
      else session.client.unref?.()
    }
  }

  async #connect(): Promise<Session> {
    if (this.#session?.isBroken) this.#drop()
    if (this.#isClosed) throw new NotSent('the store is closed')
    this.#session ??= await this.#clients.take(true)
    return this.#session
  }

  #drop(): void {
    this.#session?.release(true)
    this.#session = undefined
  }

  /** Waits for the statement in progress. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
    const session = this.#session
    this.#session = undefined
    session?.client.ref?.()
    if (session) await this.#clients.giveBack(session)
  }
}
