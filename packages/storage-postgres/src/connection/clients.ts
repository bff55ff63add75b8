import pg from 'pg'
import { classify, codeOf, NotSent, OnStandby, Unconfirmed } from '../faults.ts'
import { notOurSession } from '../unusable.ts'
import { columnsOf, Execution, type Field, rememberColumns } from './fast-path/execution.ts'
import { types, type Value } from './fast-path/values.ts'
import { greetingTimeoutMs } from './timeouts.ts'

/** The part of a `pg` client that the store uses. It may come from another copy of the package. */
export interface Client {
  query(config: object): Promise<{ readonly rows: readonly unknown[]; readonly fields?: readonly Field[] }>
  release(isBroken?: boolean): void
  on(event: string, listener: (argument: never) => void): unknown
  off(event: string, listener: (argument: never) => void): unknown
  ref?(): void
  unref?(): void
}

/** The part of a `pg` pool that the store uses. */
export interface ClientPool {
  /** Calls back like the pools of pg, or returns a promise. */
  connect(onConnect: OnConnect): Promise<Client | undefined> | undefined | void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
  readonly options?: { readonly max?: number; readonly binary?: boolean }
}

type OnConnect = (error: unknown, client?: Client) => void

/** A statement in the form the driver expects. */
export interface Query {
  readonly text: string
  /** Name under which it is prepared. */
  readonly name?: string | undefined
  readonly values: readonly Value[]
  /** Time without a response after which the connection counts as broken, in ms. */
  readonly timeoutMs: number
}

/** Number of stores that use a pool of the application. */
const users = new WeakMap<ClientPool, number>()
const ignore = (): void => {}

/** Handles errors of idle connections, which would otherwise end the process. The pool replaces them on demand. */
function outliveIdleErrors(pool: ClientPool): () => void {
  const change = (by: number): number => {
    const count = (users.get(pool) ?? 0) + by
    users.set(pool, count)
    return count
  }
  if (change(1) === 1) pool.on?.('error', ignore)
  return () => void (change(-1) === 0 && pool.off?.('error', ignore))
}

/** Borrows connections from a pool, either the store's own or the application's. */
export class Clients {
  readonly #pool: ClientPool
  readonly #own: pg.Pool | undefined
  readonly #isPrepared: boolean
  readonly #letGo: () => void
  readonly #known = new WeakSet<Client>()
  #history: string | undefined
  #hasFailedOver = false

  constructor(connection: string | ClientPool, isPrepared: boolean) {
    if (typeof connection === 'string') {
      this.#own = new pg.Pool({
        connectionString: connection,
        max: 10,
        connectionTimeoutMillis: 5_000,
        keepAlive: true,
        fallback_application_name: 'pawl',
        // An idle connection must not keep the process alive; the engine decides that.
        allowExitOnIdle: true,
      })
      // Never removed: connections that are closing may break as well.
      this.#own.on('error', ignore)
    }
    this.#pool = (this.#own ?? connection) as ClientPool
    this.#letGo = this.#own ? ignore : outliveIdleErrors(this.#pool)
    this.#isPrepared = isPrepared
  }

  /** Whether the pool belongs to the store. */
  get isOwn(): boolean {
    return this.#own !== undefined
  }

  /** Maximum number of connections; undefined if the pool does not report it. */
  get max(): number | undefined {
    return this.#own ? undefined : this.#pool.options?.max
  }

  /**
   * Returns a connection to the primary. `isKept`: it is used for several statements, so its session may be configured.
   * @throws NotSent
   */
  async take(isKept: boolean): Promise<Session> {
    let session: Session
    try {
      session = await connect(this.#pool, this.isOwn)
    } catch (error) {
      throw new NotSent(error)
    }
    const { client } = session
    try {
      const isNew = !this.#known.has(client)
      if (isNew) await this.#greet(session)
      if (this.#isPrepared && !this.#own && isKept) await session.command(planForKeys)
      this.#known.add(client)
      return session
    } catch (error) {
      session.release(true)
      throw new NotSent(error)
    }
  }

  async #greet(session: Session): Promise<void> {
    // From here on, connections of the store's own pool use the planner settings.
    const { standby, history } = await greet(session, this.#isPrepared && this.#own !== undefined)
    if (standby) throw new OnStandby()
    this.#history ??= history
    if (this.#history !== history) this.#hasFailedOver = true
  }

  /** Whether another server took over since the first connection. It may lack data of the first one. */
  get hasFailedOver(): boolean {
    return this.#hasFailedOver
  }

  /** Returns a kept connection to the pool with its original session settings. */
  async giveBack(session: Session): Promise<void> {
    try {
      if (this.#isPrepared && !this.#own && !session.isBroken) await session.command(planAsUsual)
    } catch {
      // Broken: released so that the pool discards it.
    } finally {
      session.release()
    }
  }

  /** Ends the store's own pool. A pool of the application stays open. */
  async end(): Promise<void> {
    this.#letGo()
    await this.#own?.end()
  }
}

/**
 * Connects with a callback if the pool supports it. With a promise, the connection has no error listener until the
 * caller continues, and an error in that moment would end the process.
 */
function connect(pool: ClientPool, isOwn: boolean): Promise<Session> {
  return new Promise((resolve, reject) => {
    let session: Session | undefined
    const take = (client: Client | undefined): void => {
      if (client === undefined || session !== undefined) return
      session = new Session(client, isOwn)
      resolve(session)
    }
    const promised = pool.connect((error, client) => (error ? reject(error) : take(client)))
    promised?.then(take, reject)
  })
}

/** Settings of a session: one plan for all values, and no merge joins, which scan from the lowest key (schema/planner.ts). */
const plannerSettings = { plan_cache_mode: 'force_generic_plan', enable_mergejoin: 'off' }
const setAll = Object.entries(plannerSettings)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')
const planForKeys = `select ${setAll}`
const planAsUsual = Object.keys(plannerSettings)
  .map((name) => `reset ${name}`)
  .join('; ')

interface Greeting {
  readonly standby: boolean
  /**
   * System identifier and timeline of the server. A different one means that a standby was promoted or a backup
   * restored. Empty if the server does not report it.
   */
  readonly history: string
}

/** Reads everything in one statement, because a caller waits; in two if the server refuses to report all of it. */
async function greet(session: Session, plansForKeys: boolean): Promise<Greeting> {
  const isStandby = 'pg_is_in_recovery()'
  const history = `(select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())`
  const more = plansForKeys ? `, ${setAll}` : ''
  async function ask(answer: string): Promise<Greeting> {
    const text = `select ${isStandby} as standby, ${answer} as history${more}`
    const [row] = await session.query<Greeting>({ text, values: [], timeoutMs: greetingTimeoutMs })
    return row as Greeting
  }
  try {
    return await ask(`case when ${isStandby} then '' else ${history} end`)
  } catch (error) {
    if (session.isBroken) throw error
    return ask(`''`)
  }
}

/** A borrowed connection. */
export class Session {
  readonly #client: Client
  readonly #isOwn: boolean
  readonly #onEnd: (error?: unknown) => void
  readonly #onNotice: (notice: Notice) => void
  /** Why the server ended the session, if it reported that between two statements. */
  #ending: unknown
  #warning: string | undefined
  #isReleased = false
  isBroken = false

  constructor(client: Client, isOwn: boolean) {
    this.#client = client
    this.#isOwn = isOwn
    this.#onEnd = (error) => {
      this.isBroken = true
      if (codeOf(error) !== '') this.#ending ??= error
    }
    this.#onNotice = (notice) => {
      if (isUnconfirmed(notice)) this.#warning = notice.message ?? 'a standby may not have it'
    }
    client.on('error', this.#onEnd)
    client.on('end', this.#onEnd)
    client.on('notice', this.#onNotice)
  }

  get client(): Client {
    return this.#client
  }

  /** @throws what the driver throws, or Unconfirmed */
  async query<Row>(query: Query): Promise<readonly Row[]> {
    this.#warning = undefined
    try {
      const rows = await this.#carryOut(query)
      if (this.#warning !== undefined) throw new Unconfirmed(this.#warning)
      return rows as readonly Row[]
    } catch (error) {
      if (isMisplaced(error)) throw notOurSession(error)
      // After any error other than a refusal by the server, the state of the connection is unknown.
      if (!isRefusal(error)) this.isBroken = true
      // The driver only says that the connection is lost.
      throw classify(error) === 'unknown' && codeOf(error) === '' ? (this.#ending ?? error) : error
    }
  }

  async #carryOut({ text, name, values, timeoutMs }: Query): Promise<readonly unknown[]> {
    const client = this.#client
    const query = { text, values, types, query_timeout: timeoutMs }
    if (name === undefined) return (await client.query(query)).rows
    const columns = columnsOf(client, name)
    if (columns) return new Execution(name, text, values, timeoutMs).on(client, columns)
    const { rows, fields } = await client.query({ ...query, name })
    // A pool of the caller may wrap its clients, or use another driver, and expect queries with promises.
    if (fields && this.#isOwn) rememberColumns(client, name, fields)
    return rows
  }

  /** Runs a statement without values or rows. */
  async command(text: string): Promise<void> {
    await this.query({ text, values: [], timeoutMs: greetingTimeoutMs })
  }

  release(isBroken: boolean = this.isBroken): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#client.off('end', this.#onEnd)
    this.#client.off('notice', this.#onNotice)
    this.#client.release(isBroken)
    // Last: the pool listens to errors again from here on.
    this.#client.off('error', this.#onEnd)
  }
}

interface Notice {
  readonly message?: string
  readonly detail?: string
  readonly routine?: string
}

/** Returns whether the wait for a standby was interrupted. The message is translated, its source location is not. */
function isUnconfirmed({ routine, detail = '' }: Notice): boolean {
  return routine === 'SyncRepWaitForLSN' || detail.includes('committed locally')
}

/** Returns whether a prepared statement is missing or already exists: the pool switched sessions. */
function isMisplaced(error: unknown): boolean {
  return ['26000', '42P05'].includes(codeOf(error))
}

/** Returns whether the server rejected the statement and the session is still usable. */
function isRefusal(error: unknown): boolean {
  const code = codeOf(error)
  return code !== '' && classify(error) !== 'unknown'
}
