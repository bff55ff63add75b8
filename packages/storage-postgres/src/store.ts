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
import type { ClientPool } from './connection/clients.ts'
import { Database } from './connection/database.ts'
import { Ownership } from './connection/ownership.ts'
import { type Names, storeTime } from './names.ts'
import { checkServer } from './open.ts'
import { type FindAsk, prepareFindAsk } from './reads/asks.ts'
import { prepareReadLog, type ReadLog } from './reads/log.ts'
import { prepareReadMail, type ReadMail } from './reads/mail.ts'
import { type FindRun, prepareFindRun } from './reads/runs.ts'
import { isCurrent, readVersion } from './schema/version.ts'
import { Hints } from './watch.ts'
import { type Answer, prepareAnswer } from './writes/answer.ts'
import { type Claiming, prepareClaiming } from './writes/claim.ts'
import { type Commit, prepareCommit } from './writes/commit.ts'
import { type Create, prepareCreate } from './writes/create.ts'
import { type MarkRun, prepareMark } from './writes/mark.ts'
import { prepareSend, type Send } from './writes/send.ts'
import { prepareWorkers, type Workers } from './writes/workers.ts'

export interface StoreOptions {
  readonly names: Names
  /** Whether statements are prepared under a name, and sessions set up. */
  readonly prepared: boolean
  readonly notifications: boolean
}

/** What a worker needs at once when it starts: for its claims, for its heartbeat, and to listen. */
const connectionsOfWorker = 3

/** One engine's, or one client's, connection to the database. Each method's work is in the file of its concern. */
export class PostgresStore implements StorePort {
  readonly commitsInFlight = 2
  readonly #database: Database
  readonly #hints: Hints
  readonly #ownership = new Ownership()
  readonly #workers: Workers
  readonly #create: Create
  readonly #commit: Commit
  readonly #send: Send
  readonly #answer: Answer
  readonly #mark: MarkRun
  readonly #claiming: Claiming
  readonly #readLog: ReadLog
  readonly #readMail: ReadMail
  readonly #findRun: FindRun
  readonly #findAsk: FindAsk

  constructor(connection: string | ClientPool, { names, prepared, notifications }: StoreOptions) {
    const database = new Database(connection, names, prepared)
    this.#database = database
    this.#hints = new Hints(database, notifications)
    this.#workers = prepareWorkers(database, this.#ownership)
    this.#create = prepareCreate(database, this.#ownership)
    this.#commit = prepareCommit(database, this.#ownership)
    this.#send = prepareSend(database, this.#ownership)
    this.#mark = prepareMark(database, this.#ownership)
    this.#claiming = prepareClaiming(database, this.#ownership)
    this.#readLog = prepareReadLog(database)
    this.#readMail = prepareReadMail(database)
    this.#findRun = prepareFindRun(database)
    this.#findAsk = prepareFindAsk(database)
    this.#answer = prepareAnswer(database, this.#ownership, this.#findAsk.byPosition)
  }

  async open(forWorker = false): Promise<void> {
    if (forWorker) this.#database.connectAhead(connectionsOfWorker)
    await checkServer(this.#database)
    await this.#bringUpToDate()
    const { runs } = this.#database.names
    const [row] = await this.#database.read<{ newest: number }>(
      `select coalesce(max(run), 0) as newest from ${runs}`,
      [],
    )
    this.#database.plans.noteRun(row?.newest ?? 0)
  }

  /** What migrates is loaded only where there is something to do: kysely takes longer to load than all the rest. */
  async #bringUpToDate(): Promise<void> {
    if (isCurrent(await readVersion(this.#database), this.#database.names)) return
    const { migrate } = await import('./schema/migrate.ts')
    await migrate(this.#database)
  }

  async close(): Promise<void> {
    await Promise.all([this.#hints.close(), this.#database.close()])
  }

  async now(): Promise<number> {
    const [row] = await this.#database.read<{ now: number }>(`select ${storeTime} as now`, [])
    return row?.now ?? 0
  }

  // ── workers

  register(worker: NewWorker): Promise<WorkerKey> {
    return this.#workers.register(worker)
  }

  beat(worker: WorkerKey): Promise<boolean> {
    return this.#workers.beat(worker)
  }

  async sweep(): Promise<number> {
    const count = await this.#workers.sweep()
    if (count > 0) this.#hints.send()
    return count
  }

  async release(worker: WorkerKey): Promise<void> {
    await this.#workers.release(worker)
    this.#hints.send()
  }

  // ── the writes

  async create(runs: readonly NewRun[]): Promise<readonly Created[]> {
    if (runs.length === 0) return []
    const created = await this.#create(runs)
    // A run that is created claimed is nobody else's business yet.
    if (runs.some(({ worker }) => worker === null)) this.#hints.send()
    return created
  }

  async commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    if (units.length === 0) return []
    const outcomes = await this.#commit(worker, units)
    if (units.some((unit, i) => isAwaited(unit) || isHandedOver(unit, outcomes[i]))) this.#hints.send()
    return outcomes
  }

  async send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    if (messages.length === 0) return []
    const sent = await this.#send(messages, claimant)
    if (sent.some((one) => one.outcome === 'stored' && this.#isOthers(one))) this.#hints.send()
    return sent
  }

  async answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    if (answers.length === 0) return []
    const answered = await this.#answer(answers, claimant)
    if (answered.some((one) => one.outcome === 'answered')) this.#hints.send()
    return answered
  }

  async mark(
    worker: WorkerKey,
    run: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
  ): Promise<boolean> {
    const isMarked = await this.#mark(worker, run, epoch, mark, reason)
    if (isMarked) this.#hints.send()
    return isMarked
  }

  /** Whether the message has to be picked up by another process. */
  #isOthers({ run, claimed }: { readonly run: RunKey; readonly claimed: unknown }): boolean {
    return claimed === null && !this.#ownership.owns(run)
  }

  // ── ownership

  claim(claimant: Claimant, limit: number): Promise<Claims> {
    return this.#claiming.claim(claimant, limit)
  }

  async retryStuck(claimant: Claimant): Promise<number> {
    const count = await this.#claiming.retryStuck(claimant)
    if (count > 0) this.#hints.send()
    return count
  }

  mailOf(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]> {
    return this.#claiming.mailOf(worker)
  }

  // ── reads

  load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]> {
    return this.#readLog(run, seq, limit)
  }

  mail(run: RunKey, after: number): Promise<readonly Message[]> {
    return this.#readMail(run, after)
  }

  find(id: string): Promise<RunRow | null> {
    return this.#findRun(id)
  }

  async runs(filter: RunQuery): Promise<readonly RunRow[]> {
    const { listRuns } = await import('./reads/run-list.ts')
    return listRuns(this.#database, filter)
  }

  ask(run: string, position: number): Promise<AskRow | null> {
    return this.#findAsk.byPosition(run, position)
  }

  askByKey(run: string, key: string): Promise<AskRow | null> {
    return this.#findAsk.byKey(run, key)
  }

  async asks(filter: AskQuery): Promise<readonly AskRow[]> {
    const { listAsks } = await import('./reads/ask-list.ts')
    return listAsks(this.#database, filter)
  }

  // ── hints

  watch(onHint: () => void): () => void {
    return this.#hints.watch(onHint)
  }
}

/** Let go although it is due: for another worker. */
function isHandedOver({ next }: Unit, outcome: UnitOutcome | undefined): boolean {
  if (next.do !== 'park' || outcome?.outcome !== 'ok') return false
  return outcome.parked && next.wakeAt !== null && next.wakeAt <= outcome.at
}

/** Whether somebody may be waiting for it in another process: for a question, its end, or the run's. */
function isAwaited({ effects, next }: Unit): boolean {
  if (next.do === 'end') return true
  return effects.some((effect) => effect.do === 'open-ask' || effect.do === 'close-ask')
}
