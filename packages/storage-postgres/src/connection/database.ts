import type { CompiledQuery } from 'kysely'
import { classify, explain, type Fault } from '../faults.ts'
import type { Names } from '../names.ts'
import type { Client, ClientPool, Query } from './clients.ts'
import { Clients } from './clients.ts'
import { PlanGeneration } from './fast-path/plan-generation.ts'
import type { Statement } from './fast-path/statement.ts'
import type { Value } from './fast-path/values.ts'
import { ReservedConnection } from './reserved-connection.ts'
import { callRetryMs, firstCallRetryMs, statementTimeoutMs } from './timeouts.ts'

/** Runs statements, on any connection of the pool or on a given one. */
export interface Runner {
  run<Row>(statement: Statement, values: readonly Value[], timeoutMs?: number): Promise<readonly Row[]>
}

/** Holds the connections of one store and retries statements whose connection breaks. */
export class Database implements Runner {
  readonly names: Names
  readonly plans: PlanGeneration = new PlanGeneration()
  readonly #clients: Clients
  readonly #isPrepared: boolean
  readonly #reserved: ReservedConnection[] = []
  /** Callbacks that end the current pauses. */
  readonly #pauses = new Set<() => void>()
  #isClosed = false
  #hasAnswered = false
  #unheardAt = Number.NEGATIVE_INFINITY

  constructor(connection: string | ClientPool, names: Names, isPrepared: boolean) {
    this.names = names
    this.#isPrepared = isPrepared
    this.#clients = new Clients(connection, isPrepared)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether another server took over since the first connection. Its rows may be older than rows seen before. */
  get hasFailedOver(): boolean {
    return this.#clients.hasFailedOver
  }

  /** Maximum number of connections; undefined for the store's own pool. */
  get maxConnections(): number | undefined {
    return this.#clients.max
  }

  /** Runs a statement once, on any connection. */
  run<Row>(statement: Statement, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#runOnce(this.#prepare(statement, values))
  }

  /** Runs a statement that is planned each time: a long read, or one built by kysely. */
  read<Row>(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    return this.repeat(() => this.#runOnce({ text, values, timeoutMs: statementTimeoutMs }))
  }

  /** Runs a list that kysely built. @see read */
  list<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
    // The types that the list builders use as values.
    return this.read<Row>(sql, parameters as readonly Value[])
  }

  /** Opens connections of our own pool in advance. Errors are ignored: the next caller that connects reports them. */
  connectAhead(count: number): void {
    if (!this.#clients.isOwn) return
    for (let i = 0; i < count; i++)
      void this.#clients.take(false).then(
        (session) => session.release(),
        () => {},
      )
  }

  async #runOnce<Row>(query: Query): Promise<readonly Row[]> {
    this.#assertOpen()
    const session = await this.#clients.take(false)
    try {
      return await session.query<Row>(query)
    } catch (error) {
      if (classify(error) === 'unknown') this.#unheardAt = performance.now()
      throw error
    } finally {
      session.release()
    }
  }

  /** Time since a statement on a pool connection was sent without a response, in ms. */
  get msSinceUnheard(): number {
    return performance.now() - this.#unheardAt
  }

  /** Reserves a separate connection, which is opened at its first use. */
  reserve(): Runner {
    const connection = new ReservedConnection(this.#clients)
    this.#reserved.push(connection)
    return {
      run: (statement, values, timeoutMs) => connection.run(this.#prepare(statement, values, timeoutMs)),
    }
  }

  /** Lends a connection for work that must stay on one session: a migration, a listener. */
  async lend<T>(use: (client: Client) => Promise<T>): Promise<T> {
    this.#assertOpen()
    const session = await this.#clients.take(true)
    try {
      return await use(session.client)
    } finally {
      session.release(true)
    }
  }

  #prepare(statement: Statement, values: readonly Value[], timeoutMs = statementTimeoutMs): Query {
    const name = this.#isPrepared ? statement.nameIn(this.plans.generation) : undefined
    return { text: statement.text, name, values, timeoutMs }
  }

  /**
   * Runs `attempt`, and retries it while that may help. `isRepeated`: an earlier attempt may have been executed
   * without a response, or may still be.
   */
  async repeat<T>(
    attempt: (isRepeated: boolean) => Promise<T>,
    mayRepeat: (fault: Fault) => boolean = (fault) => fault !== 'final' && fault !== 'data',
    maxMs: number = callRetryMs,
  ): Promise<T> {
    const startedAt = performance.now()
    const retryMs = this.#hasAnswered ? maxMs : Math.min(maxMs, firstCallRetryMs)
    let isRepeated = false
    for (let failures = 0; ; failures++) {
      this.#assertOpen()
      try {
        const result = await attempt(isRepeated)
        this.#hasAnswered = true
        return result
      } catch (error) {
        const fault = classify(error)
        if (!mayRepeat(fault) || this.isClosed || performance.now() - startedAt > retryMs)
          throw explain(error, isRepeated)
        isRepeated ||= fault === 'unknown'
      }
      await this.pause(failures)
    }
  }

  /** Waits before a retry, with exponential backoff and jitter. Ends early when the store is closed. */
  async pause(failures: number): Promise<void> {
    if (this.isClosed) return
    const longest = Math.min(1_000, 10 * 2 ** failures)
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#pauses.delete(end)
        resolve()
      }
      const timer = setTimeout(end, longest * (0.5 + Math.random() / 2))
      this.#pauses.add(end)
    })
  }

  #assertOpen(): void {
    if (this.isClosed) throw new Error('This connection to the store is closed.')
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.#isClosed = true
    for (const end of this.#pauses) end()
    await Promise.all(this.#reserved.map((connection) => connection.close()))
    await this.#clients.end()
  }
}
