import { PawlError } from '@pawl/core/storage'
import { explainFault, isBusy, isFull } from '../faults.ts'
import { openDatabase } from '../open.ts'
import { unusable } from '../unusable.ts'
import type { Database, Statement } from './database.ts'
import type { SqliteDriver } from './driver.ts'
import { checkIdentity, readIdentity } from './file-identity.ts'
import { pause } from './retry.ts'
import { shortenWal } from './wal.ts'

/** External functions of a connection. Tests replace them. */
export interface Environment {
  readonly now: () => number
  readonly connect: (file: string) => Promise<Database>
}

export function realEnvironment(driver: SqliteDriver): Environment {
  return { now: Date.now, connect: (file) => openDatabase(file, driver) }
}

/** Minimum ms between two checks that the file is still in its directory. */
const lookEveryMs = 1_000

/** The disk failed during a commit, so the transaction may or may not be stored. */
export class UnknownOutcome extends PawlError<'store-unusable'> {
  constructor(file: string, cause: unknown) {
    const remedy = 'Check the disk in the system log.'
    super(
      'store-unusable',
      { remedy },
      {
        what: `The disk failed during a commit to ${file}.`,
        next: 'The data may or may not be stored: check before you repeat the call.',
        cause,
      },
    )
  }
}

interface Session<Statements> {
  readonly database: Database
  readonly statements: Statements
  readonly begin: Statement
  readonly commit: Statement
  readonly rollback: Statement
}

/**
 * Holds one connection to the file. A transaction runs synchronously. While another process has the lock, attempts are
 * separated by timers, so that the event loop is not blocked.
 */
export class Connection<Statements> {
  readonly file: string
  readonly #prepare: (database: Database) => Statements
  readonly #environment: Environment
  readonly #pid = process.pid
  #session: Session<Statements> | undefined
  #connecting: Promise<void> | undefined
  #state: 'new' | 'open' | 'closed' = 'new'
  #queued = 0
  #commits = 0
  #tail: Promise<void> = Promise.resolve()
  /** Identities of the file and its -wal when they were opened. */
  #identities: readonly (string | undefined)[] = []
  #fault: unknown
  #lookedAt = 0
  #isLong = false

  constructor(file: string, prepare: (database: Database) => Statements, environment: Environment) {
    this.file = file
    this.#prepare = prepare
    this.#environment = environment
  }

  /** @throws PawlError 'store-unusable' */
  async open(): Promise<void> {
    this.#state = 'open'
    try {
      await this.#reconnect()
    } catch (error) {
      this.#state = 'closed'
      throw error
    }
  }

  /** Whether a retry can succeed: the connection is open and its file is still in place. */
  get isUsable(): boolean {
    return this.#state === 'open' && this.#fault === undefined
  }

  /** Number of transactions committed by this connection. */
  get commits(): number {
    return this.#commits
  }

  close(): void {
    this.#state = 'closed'
    this.#session?.database.close()
    this.#session = undefined
  }

  now(): number {
    return this.#environment.now()
  }

  /** Runs one transaction. Its writes are durable when the promise is fulfilled. */
  async write<T>(work: (statements: Statements, at: number) => T): Promise<T> {
    const session = this.#queued === 0 ? this.#usable() : undefined
    if (session && this.#lock(session)) return this.#transact(session, work)
    return this.#queue(() => this.#writeWhenFree(work))
  }

  /** Queues writes, so that only the first in this process competes for the lock. */
  #queue<T>(write: () => Promise<T>): Promise<T> {
    this.#queued++
    const done = this.#tail.then(write).finally(() => this.#queued--)
    this.#tail = done.then(ignore, ignore)
    return done
  }

  async #writeWhenFree<T>(work: (statements: Statements, at: number) => T): Promise<T> {
    for (let attempt = 0; ; ) {
      const session = this.#usable()
      if (session === undefined) await this.#reconnect()
      else if (this.#lock(session)) return this.#transact(session, work)
      else await pause(attempt++, this.file)
    }
  }

  /** Runs statements that only read. Each sees its own snapshot of the file. */
  async read<T>(work: (statements: Statements, at: number) => T): Promise<T> {
    for (let attempt = 0; ; ) {
      const session = this.#usable()
      if (session === undefined) {
        await this.#reconnect()
        continue
      }
      try {
        return work(session.statements, this.now())
      } catch (error) {
        if (!isBusy(error)) throw explainFault(error, this.file)
        await pause(attempt++, this.file)
      }
    }
  }

  /**
   * Checks that the file is still in its directory, and shortens a long -wal.
   * @throws PawlError 'store-unusable' if the file was replaced or deleted; every later call then throws it too
   */
  inspect(): void {
    const session = this.#usable()
    if (!session) return
    this.#checkFiles([this.file, `${this.file}-wal`])
    const isLong = shortenWal(session.database, this.file)
    if (isLong && !this.#isLong) {
      process.emitWarning(
        `${this.file}-wal is growing because a process has kept a read transaction on ${this.file} open for a long time. Pawl continues and keeps trying to shorten it.`,
        { code: 'PAWL_STORE_WAL' },
      )
    }
    this.#isLong = isLong
  }

  /** Checks the files at a call, because a client has no heartbeat that calls `inspect`. */
  #lookNowAndThen(): void {
    const now = performance.now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    try {
      this.#checkFiles([this.file, `${this.file}-wal`])
    } catch (error) {
      // A failed check proves nothing about the file.
      if (PawlError.is(error)) throw error
    }
  }

  #checkFiles(files: readonly string[]): void {
    try {
      for (const [index, file] of files.entries()) checkIdentity(file, this.#identities[index])
    } catch (error) {
      if (PawlError.is(error)) this.#fault = error
      throw error
    }
  }

  /** Returns the statements, or undefined while there is no connection to the file. */
  peek(): Statements | undefined {
    return this.#state === 'open' ? this.#session?.statements : undefined
  }

  /** Begins a transaction. Returns false if another process has the lock. */
  #lock(session: Session<Statements>): boolean {
    try {
      session.begin.run()
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw explainFault(error, this.file)
    }
  }

  #transact<T>(session: Session<Statements>, work: (statements: Statements, at: number) => T): T {
    let result: T
    try {
      result = work(session.statements, this.now())
    } catch (error) {
      if (session.database.inTransaction) session.rollback.run()
      throw explainFault(error, this.file)
    }
    this.#commit(session)
    return result
  }

  #commit(session: Session<Statements>): void {
    try {
      session.commit.run()
      this.#commits++
    } catch (error) {
      // A full disk is detected before the record that makes the commit valid is written. After any other fault that
      // record may or may not be on the disk, and a retry on the same handle would prove nothing.
      const isKnown = isFull(error)
      if (isKnown && session.database.inTransaction) session.rollback.run()
      if (isKnown) throw explainFault(error, this.file)
      this.#session = undefined
      closeQuietly(session.database)
      throw new UnknownOutcome(this.file, error)
    }
  }

  #usable(): Session<Statements> | undefined {
    if (this.#state !== 'open') throw new Error(`The connection to ${this.file} is not open.`)
    if (this.#fault) throw this.#fault
    if (process.pid !== this.#pid) {
      throw unusable(
        `The connection to ${this.file} was opened before this process was forked.`,
        'Call `sqlite()` in each process, after the fork.',
        undefined,
        '',
      )
    }
    if (this.#session) this.#lookNowAndThen()
    return this.#session
  }

  /** Reconnects, once for concurrent callers. Callers must check again, because the new connection may already have failed. */
  #reconnect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(): Promise<void> {
    // On a reconnect: opening a file that is gone would create an empty one in its place.
    if (this.#identities.length > 0) this.#checkFiles([this.file])
    const database = await this.#environment.connect(this.file)
    try {
      this.#usable()
      this.#session = {
        database,
        statements: this.#prepare(database),
        begin: database.prepare('begin immediate'),
        commit: database.prepare('commit'),
        rollback: database.prepare('rollback'),
      }
      this.#identities = [this.file, `${this.file}-wal`].map(readIdentity)
      this.#lookedAt = performance.now()
    } catch (error) {
      database.close()
      throw explainFault(error, this.file)
    }
  }
}

function ignore(): void {}

/** Ignores errors, because closing also writes to the disk that has just failed. */
function closeQuietly(database: Database): void {
  try {
    database.close()
  } catch {
    // The handle is released anyway, and the first fault is the one to report.
  }
}
