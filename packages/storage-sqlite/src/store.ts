import type {
  Answered,
  AskQuery,
  AskRow,
  Claimant,
  Claimed,
  Claims,
  Created,
  LogEvent,
  Mark,
  Message,
  NewAnswer,
  NewMessage,
  NewRun,
  NewWorker,
  RunKey,
  RunQuery,
  RunRow,
  Sent,
  StorePort,
  Unit,
  UnitOutcome,
  WorkerKey,
} from '@pawl/core/storage'
import { Connection, type Environment, realEnvironment, UnknownOutcome } from './connection/connection.ts'
import { realFile } from './connection/real-file.ts'
import { pauseAfterFault } from './connection/retry.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { watchCommits } from './watch.ts'
import { Conflict } from './writes/commit.ts'
import type { Grant } from './writes/reclaim.ts'

/** How many runs of dead workers one transaction hands back: it blocks the event loop for some ms. */
const sweepSize = 1000

/** With kysely, which takes longer to load than all the rest: a process that only goes on never needs it. */
const loadLists = () => import('./reads/lists.ts')

/** The store port on one connection to a file. */
export class SqliteStore implements StorePort {
  readonly #connection: Connection<Statements>

  constructor(file: string, environment: Environment = realEnvironment) {
    this.#connection = new Connection(file === '' ? file : realFile(file), prepareStatements, environment)
  }

  open(): Promise<void> {
    return this.#connection.open()
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  now(): Promise<number> {
    return this.#connection.read((_, at) => at)
  }

  // ── workers

  register(worker: NewWorker): Promise<WorkerKey> {
    return this.#connection.write(({ workers }, at) => workers.register(worker, at))
  }

  async beat(worker: WorkerKey): Promise<boolean> {
    this.#connection.inspect()
    return this.#connection.write(({ workers }, at) => workers.beat(worker, at))
  }

  async sweep(): Promise<number> {
    let handedBack = 0
    // Most sweeps find nothing, and then they take no lock.
    while (await this.#connection.read(({ workers }, at) => workers.findsWork(at))) {
      handedBack += await this.#connection.write(({ workers }, at) => workers.sweep(at, sweepSize))
    }
    return handedBack
  }

  release(worker: WorkerKey): Promise<void> {
    return this.#connection.write(({ workers }, at) => workers.release(worker, at))
  }

  // ── the writes

  create(runs: readonly NewRun[]): Promise<readonly Created[]> {
    const granted = runs.flatMap(({ id, worker }) => (worker === null ? [] : { id, worker, epoch: 1 }))
    return this.#granting(({ create }, at) => ({ result: create(runs, at), granted }))
  }

  async commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    const conflicts = new Set<number>()
    for (;;) {
      try {
        return await this.#connection.write(({ commit }, at) => commit(worker, units, conflicts, at))
      } catch (error) {
        if (error instanceof UnknownOutcome) return await this.#resolve(worker, units)
        // Rare enough that the others are simply written again, without the culprit.
        if (!(error instanceof Conflict)) throw error
        conflicts.add(error.index)
      }
    }
  }

  /** Nothing may be done for these runs before it is known what became of them. */
  #resolve(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    return this.#insist(({ reclaim }, at, raises) => units.map((unit) => reclaim(worker, unit, raises, at)))
  }

  send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    return this.#granting((statements, at) => {
      const sent = messages.map((message) => statements.mail.send(message, at))
      const claimed = new Claiming(statements, claimant, at)
      const result = sent.map((one) => ('run' in one ? { ...one, claimed: claimed.take(one.run) } : one))
      return { result, granted: claimed.granted }
    })
  }

  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    return this.#granting((statements, at) => {
      const answered = answers.map((answer) => statements.mail.answer(answer, at))
      const claimed = new Claiming(statements, claimant, at)
      const result = answered.map((one) =>
        one.outcome === 'answered' ? { ...one, claimed: claimed.take(one.run) } : one,
      )
      return { result, granted: claimed.granted }
    })
  }

  mark(
    worker: WorkerKey,
    run: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
  ): Promise<boolean> {
    return this.#connection.write((statements) => statements.mark(worker, run, epoch, mark, reason))
  }

  // ── ownership

  async claim(claimant: Claimant, limit: number): Promise<Claims> {
    const { claims, isAnyDue } = await this.#connection.read(({ claims }, at) => ({
      isAnyDue: limit > 0 && claims.findDue(claimant, 1, at).length > 0,
      claims: { runs: [], at, nextDueAt: claims.findNextDue(claimant) },
    }))
    // Most of the time nothing is due, and then no lock is taken.
    if (!isAnyDue) return claims
    return this.#granting((statements, at) => {
      const claimed = new Claiming(statements, claimant, at)
      const runs = statements.claims.findDue(claimant, limit, at).flatMap((run) => claimed.take(run) ?? [])
      return {
        result: { runs, at, nextDueAt: statements.claims.findNextDue(claimant) },
        granted: claimed.granted,
      }
    })
  }

  /**
   * One transaction in which a worker may be given runs. If nobody can tell whether it came about, the worker
   * will not hear of them: they are handed back, or they would wait until it dies.
   */
  async #granting<T>(
    work: (statements: Statements, at: number) => { readonly result: T; readonly granted: readonly Grant[] },
  ): Promise<T> {
    let granted: readonly Grant[] = []
    try {
      return await this.#connection.write((statements, at) => {
        const done = work(statements, at)
        granted = done.granted
        return done.result
      })
    } catch (error) {
      if (error instanceof UnknownOutcome && granted.length > 0) {
        await this.#insist(({ disown }, at) => granted.map((grant) => disown(grant, at)))
      }
      throw error
    }
  }

  /** Repeats a transaction until the disk answers; `work` is told how often it was tried before. */
  async #insist<T>(work: (statements: Statements, at: number, tries: number) => T): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#connection.write((statements, at) => work(statements, at, tries))
      } catch (error) {
        if (!this.#connection.isUsable) throw error
        await pauseAfterFault(tries, this.#connection.file)
      }
    }
  }

  retryStuck(claimant: Claimant): Promise<number> {
    return this.#connection.write(({ claims }, at) => claims.retryStuck(claimant, at))
  }

  mailOf(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]> {
    return this.#connection.read(({ reads }) => reads.readMailOf(worker))
  }

  // ── reads

  load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]> {
    return this.#connection.read(({ reads }) => reads.readLog(run, seq, limit))
  }

  mail(run: RunKey, after: number): Promise<readonly Message[]> {
    return this.#connection.read(({ reads }) => reads.readMail(run, after))
  }

  find(id: string): Promise<RunRow | null> {
    return this.#connection.read(({ reads }) => reads.readRun(id))
  }

  async runs(filter: RunQuery): Promise<readonly RunRow[]> {
    const { listRuns } = await loadLists()
    return this.#connection.read(({ readAll }, at) => listRuns(readAll, filter, at))
  }

  ask(run: string, position: number): Promise<AskRow | null> {
    return this.#connection.read(({ reads }) => reads.readAsk(run, position))
  }

  askByKey(run: string, key: string): Promise<AskRow | null> {
    return this.#connection.read(({ reads }) => reads.readAskByKey(run, key))
  }

  async asks(filter: AskQuery): Promise<readonly AskRow[]> {
    const { listAsks } = await loadLists()
    return this.#connection.read(({ readAll }) => listAsks(readAll, filter))
  }

  // ── hints

  watch(onHint: () => void): () => void {
    const connection = this.#connection
    return watchCommits(
      connection.file,
      { readVersion: () => this.#readVersion(), countCommits: () => connection.commits },
      onHint,
    )
  }

  /** Undefined while that cannot be told: the file is locked, or broken. Whoever reads is told why. */
  #readVersion(): number | undefined {
    try {
      return this.#connection.peek()?.readDataVersion()
    } catch {
      return undefined
    }
  }
}

/** Takes runs for whoever made them due, and keeps in mind which. */
class Claiming {
  readonly granted: Grant[] = []
  readonly #statements: Statements
  readonly #claimant: Claimant | null
  readonly #at: number

  constructor(statements: Statements, claimant: Claimant | null, at: number) {
    this.#statements = statements
    this.#claimant = claimant
    this.#at = at
  }

  take(run: RunKey): Claimed | null {
    if (!this.#claimant) return null
    const claimed = this.#statements.claims.claim(run, this.#claimant, this.#at)
    if (claimed) this.granted.push({ ...claimed, worker: this.#claimant.worker })
    return claimed
  }
}
