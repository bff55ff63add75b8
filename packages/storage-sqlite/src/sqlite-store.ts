import { resolve } from 'node:path'
import type {
  Answered,
  AskQuery,
  AskRow,
  Claimant,
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
import { pauseAfterFault } from './connection/patience.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { watchCommits } from './watch.ts'
import { Conflict } from './writes/commit.ts'

/** How many runs of dead workers one transaction hands back: it blocks the event loop for some ms. */
const sweepSize = 1000

/** The store port on one connection to a file. */
export class SqliteStore implements StorePort {
  readonly #connection: Connection<Statements>

  constructor(file: string, environment: Environment = realEnvironment) {
    this.#connection = new Connection(file === '' ? file : resolve(file), prepareStatements, environment)
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
    return this.#connection.write(({ create }, at) => create(runs, at))
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

  /** Repeated until the disk answers: nothing may be done for these runs before it is known what became of them. */
  async #resolve(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    for (let raises = 0; ; raises++) {
      try {
        return await this.#connection.write(({ reclaim }, at) =>
          units.map((unit) => reclaim(worker, unit, raises, at)),
        )
      } catch (error) {
        if (!this.#connection.isOpen) throw error
        await pauseAfterFault(raises, this.#connection.file)
      }
    }
  }

  send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    return this.#connection.write((statements, at) => {
      const sent = messages.map((message) => statements.mail.send(message, at))
      return sent.map((one) =>
        'run' in one ? { ...one, claimed: claimFor(statements, claimant, one.run, at) } : one,
      )
    })
  }

  answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    return this.#connection.write((statements, at) => {
      const answered = answers.map((answer) => statements.mail.answer(answer, at))
      return answered.map((one) =>
        one.outcome === 'answered' ? { ...one, claimed: claimFor(statements, claimant, one.run, at) } : one,
      )
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
    const isAnyDue = await this.#connection.read(
      ({ claims }, at) => claims.findDue(claimant, 1, at).length > 0,
    )
    const look = ({ claims }: Statements, at: number): Claims => ({
      runs: isAnyDue
        ? claims.findDue(claimant, limit, at).flatMap((run) => claims.claim(run, claimant, at) ?? [])
        : [],
      at,
      nextDueAt: claims.findNextDue(claimant),
    })
    return isAnyDue ? this.#connection.write(look) : this.#connection.read(look)
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

  runs(filter: RunQuery): Promise<readonly RunRow[]> {
    return this.#connection.read(({ lists }, at) => lists.listRuns(filter, at))
  }

  ask(run: string, position: number): Promise<AskRow | null> {
    return this.#connection.read(({ reads }) => reads.readAsk(run, position))
  }

  askByKey(run: string, key: string): Promise<AskRow | null> {
    return this.#connection.read(({ reads }) => reads.readAskByKey(run, key))
  }

  asks(filter: AskQuery): Promise<readonly AskRow[]> {
    return this.#connection.read(({ lists }) => lists.listAsks(filter))
  }

  // ── hints

  watch(onHint: () => void): () => void {
    return watchCommits(this.#connection.file, () => this.#connection.peek()?.readDataVersion(), onHint)
  }
}

/** Takes the run for whoever left it a message, if that made it due. */
function claimFor({ claims }: Statements, claimant: Claimant | null, run: RunKey, at: number) {
  return claimant && claims.claim(run, claimant, at)
}
