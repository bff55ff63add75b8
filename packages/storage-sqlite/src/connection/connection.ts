import { PawlError } from '@pawl/core/storage'
import type { Database, Statement } from 'better-sqlite3'
import { explainFault, isBusy } from '../faults.ts'
import { openDatabase } from '../open.ts'
import { unusable } from '../unusable.ts'
import { checkIdentity, readIdentity } from './file-identity.ts'
import { pause } from './retry.ts'
import { shortenWal } from './wal.ts'

/** What the connection takes from outside, so that tests can put something else in its place. */
export interface Environment {
  readonly now: () => number
  readonly connect: (file: string) => Promise<Database>
}

export const realEnvironment: Environment = { now: Date.now, connect: openDatabase }

/** Whether the file is still there is looked at this often, while it is used. */
const lookEveryMs = 1_000

/** A disk failed in the very moment of a commit: it may be on the disk or not. */
export class UnknownOutcome extends PawlError<'store-unusable'> {
  constructor(file: string, cause: unknown) {
    const remedy = 'Look at the log of the system for the disk.'
    super(
      'store-unusable',
      { remedy },
      {
        what: `The disk failed while ${file} was written.`,
        next: 'Whether this was stored is not known: look before it is repeated.',
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
 * One connection to the file. A transaction is one synchronous stretch; waiting for another process's lock
 * happens between the attempts, off the event loop.
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
  /** Of the file and its -wal, as they were opened. */
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

  /** False when it is closed, or the file was taken away: then trying again leads nowhere. */
  get isUsable(): boolean {
    return this.#state === 'open' && this.#fault === undefined
  }

  /** How many transactions this connection has committed. */
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

  /** One transaction: all that `work` writes is durable when the promise is fulfilled, or nothing of it was written. */
  async write<T>(work: (statements: Statements, at: number) => T): Promise<T> {
    const session = this.#queued === 0 ? this.#usable() : undefined
    if (session && this.#lock(session)) return this.#transact(session, work)
    return this.#queue(() => this.#writeWhenFree(work))
  }

  /** One after the other: of all that wait in this process only the first asks for the lock. */
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

  /** Each statement reads what one moment of the file shows. */
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
   * What is looked at now and then: that the file is still the one in the directory, and its -wal not too long.
   * @throws PawlError 'store-unusable', from then on at every call
   */
  inspect(): void {
    const session = this.#usable()
    if (!session) return
    this.#checkFiles([this.file, `${this.file}-wal`])
    const isLong = shortenWal(session.database, this.file)
    if (isLong && !this.#isLong) {
      process.emitWarning(
        `${this.file}-wal grows: some process has been reading ${this.file} in one transaction for long. Pawl goes on and keeps trying to shorten it.`,
        { code: 'PAWL_STORE_WAL' },
      )
    }
    this.#isLong = isLong
  }

  /** Nobody inspects for a client, which has no heartbeat: it is at its calls that it finds out. */
  #lookNowAndThen(): void {
    const now = performance.now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    try {
      this.#checkFiles([this.file, `${this.file}-wal`])
    } catch (error) {
      // That it could not be looked at proves nothing.
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

  /** The statements, if they can be used right now; undefined while the file cannot be reached. */
  peek(): Statements | undefined {
    return this.#state === 'open' ? this.#session?.statements : undefined
  }

  /** Whether the transaction has begun; not if another process has the lock. */
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
      // A full disk is found before the record that makes the commit valid; after any other fault that
      // record may or may not be on the disk, and a second try on the same handle would prove nothing.
      const isKnown = codeIsFull(error)
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
        `The connection to ${this.file} was opened by another process, before it forked.`,
        'Call sqlite() after the fork, once in each process.',
        undefined,
        '',
      )
    }
    if (this.#session) this.#lookNowAndThen()
    return this.#session
  }

  /** For whoever looks again after it: by then another one may have met a fault on the new connection. */
  #reconnect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(): Promise<void> {
    // Not the first time: a new and empty file would be made in the place of one that is gone.
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

/** Closing writes as well, to a disk that has just failed. */
function closeQuietly(database: Database): void {
  try {
    database.close()
  } catch {
    // The handle is gone either way, and the fault that counts was found before.
  }
}

function codeIsFull(error: unknown): boolean {
  return (Object(error) as { readonly code?: unknown }).code === 'SQLITE_FULL'
}
