import type {
  Answered,
  AskQuery,
  AskRow,
  Backlog,
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
  ProcedureVersions,
  QuarantineCause,
  RunKey,
  RunQuery,
  RunRow,
  Sent,
  StorePort,
  Suspect,
  Unit,
  UnitOutcome,
  WorkerKey,
} from '@pawl/core/storage'
import { compareOrder, isSuspect, orderOf } from '@pawl/core/storage'
import {
  blame,
  canClaim,
  canExecute,
  claimIfDue,
  declareDead,
  handBack,
  isAlive,
  isDue,
  isTaken,
} from './ownership.ts'
import type { RunRecord, Tables, WorkerRecord } from './tables.ts'
import { isAsked, isWanted, showAsk, showRun } from './views.ts'
import { commitUnit, copy, createRun, giveAnswer, sendMessage } from './writes.ts'

/**
 * The smallest correct store. Every method does its whole work in the caller's own call, before the first
 * `await`, so that nothing ever sees half of it: the transaction of a single-threaded program.
 */
export class MemoryConnection implements StorePort {
  /** Whose it is: what is written through one of its connections is no news to it. */
  readonly process: object
  readonly #tables: Tables
  readonly #now: () => number
  /** The workers of this process. */
  readonly #workers: WorkerRecord[] = []
  #isOpen = false

  constructor(tables: Tables, now: () => number, process: object = {}) {
    this.process = process
    this.#tables = tables
    this.#now = now
  }

  async open(): Promise<void> {
    this.#isOpen = true
  }

  /** As the end of its process: whoever did not release its runs is dead from then on. */
  async close(): Promise<void> {
    this.#isOpen = false
    for (const worker of this.#workers) declareDead(this.#tables, worker)
    this.#tables.watchers.delete(this)
  }

  async now(): Promise<number> {
    this.#checkOpen()
    return this.#now()
  }

  // ── workers

  async register({ leaseMs, procedures }: NewWorker): Promise<WorkerKey> {
    this.#checkOpen()
    const worker = this.#tables.workers.size + 1
    const record = {
      worker,
      leaseMs,
      procedures: procedures ?? null,
      beatAt: this.#now(),
      isDead: false,
      tested: 0,
    }
    this.#tables.workers.set(worker, record)
    this.#workers.push(record)
    return worker
  }

  async beat(worker: WorkerKey): Promise<boolean> {
    this.#checkOpen()
    const record = this.#tables.workers.get(worker)
    if (!record || record.isDead) return false
    record.beatAt = this.#now()
    return true
  }

  async sweep(): Promise<number> {
    this.#checkOpen()
    const now = this.#now()
    for (const record of this.#tables.workers.values()) {
      if (record.beatAt + record.leaseMs < now) declareDead(this.#tables, record)
    }
    const orphans = this.#allRuns().filter(({ worker }) => worker !== null && !isAlive(this.#tables, worker))
    for (const run of orphans) {
      blame(run, this.#tables.workers.get(run.worker ?? -1)?.tested ?? 0)
      handBack(run, now)
    }
    if (orphans.length > 0) this.#hint()
    return orphans.length
  }

  async abilities(): Promise<readonly ProcedureVersions[] | null> {
    this.#checkOpen()
    const now = this.#now()
    const live = [...this.#tables.workers.values()].filter(
      ({ isDead, beatAt, leaseMs }) => !isDead && beatAt + leaseMs >= now,
    )
    return live.some(({ procedures }) => procedures === null)
      ? null
      : live.flatMap(({ procedures }) => procedures ?? [])
  }

  async release(worker: WorkerKey): Promise<void> {
    this.#checkOpen()
    for (const run of this.#allRuns()) if (run.worker === worker) handBack(run, this.#now())
    const record = this.#tables.workers.get(worker)
    if (record) declareDead(this.#tables, record)
    this.#hint()
  }

  // ── the writes

  async create(runs: readonly NewRun[]): Promise<readonly Created[]> {
    this.#checkOpen()
    const created = runs.map((run) => createRun(this.#tables, run, this.#now()))
    this.#hint()
    return created
  }

  async commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    this.#checkOpen()
    const outcomes = units.map((unit) => commitUnit(this.#tables, worker, unit, this.#now()))
    this.#hint()
    return outcomes
  }

  async send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    this.#checkOpen()
    const now = this.#now()
    const sent = messages.map((message) => sendMessage(this.#tables, message, now))
    this.#hint()
    return sent.map((one) => ('run' in one ? { ...one, claimed: this.#claim(one.run, claimant, now) } : one))
  }

  async answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    this.#checkOpen()
    const now = this.#now()
    const answered = answers.map((answer) => giveAnswer(this.#tables, answer, now))
    this.#hint()
    return answered.map((one) =>
      one.outcome === 'answered' ? { ...one, claimed: this.#claim(one.run, claimant, now) } : one,
    )
  }

  async mark(
    worker: WorkerKey,
    key: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
    cause?: QuarantineCause,
  ): Promise<boolean> {
    this.#checkOpen()
    const run = this.#tables.runsByKey.get(key)
    if (!run || run.worker !== worker || run.epoch !== epoch) return false
    Object.assign(run, { worker: null, epoch: epoch + 1, mark, reason: copy(reason), cause: cause ?? null })
    this.#hint()
    return true
  }

  // ── ownership

  async claim(claimant: Claimant, limit: number): Promise<Claims> {
    this.#checkOpen()
    const now = this.#now()
    const runs = this.#allRuns()
      .filter((run) => isDue(run, now))
      .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || a.run - b.run)
      .filter((run) => isAlive(this.#tables, claimant.worker) && canClaim(run, claimant))
      .slice(0, limit)
      .flatMap((run) => claimIfDue(this.#tables, run, claimant, now) ?? [])
    const leavesSuspects = this.#allRuns().some((run) => isDue(run, now) && !isTaken(run, claimant))
    return { runs, at: now, nextDueAt: this.#nextDueAt(claimant), leavesSuspects }
  }

  async suspects(claimant: Claimant, limit: number): Promise<readonly Suspect[]> {
    this.#checkOpen()
    return this.#allRuns()
      .filter((run) => isDue(run, this.#now()) && isSuspect(run) && canExecute(run, claimant))
      .map(({ run, tries, positives, alone, wakeAt }) => ({
        run,
        tries,
        positives,
        alone,
        dueAt: wakeAt ?? 0,
      }))
      .sort((a, b) => b.positives - a.positives || a.dueAt - b.dueAt || a.run - b.run)
      .slice(0, limit)
  }

  async take(claimant: Claimant, runs: readonly RunKey[]): Promise<readonly Claimed[]> {
    this.#checkOpen()
    const everyOne: Claimant = { ...claimant, suspects: 'all' }
    return runs.flatMap((run) => this.#claim(run, everyOne, this.#now()) ?? [])
  }

  async endTest(worker: WorkerKey): Promise<void> {
    this.#checkOpen()
    for (const run of this.#allRuns()) if (run.worker === worker) run.isTested = false
  }

  #nextDueAt(claimant: Claimant): number | null {
    let next: number | null = null
    for (const run of this.#tables.runs.values()) {
      const isSooner = run.worker === null && run.wakeAt !== null && (next === null || run.wakeAt < next)
      if (isSooner && canClaim(run, claimant)) next = run.wakeAt
    }
    return next
  }

  async backlog(): Promise<readonly Backlog[]> {
    this.#checkOpen()
    const due = this.#allRuns()
      .filter((run) => isDue(run, this.#now()))
      .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || a.run - b.run)
    const kinds = new Map<string, Backlog>()
    for (const { id, procedure, version } of due) {
      const key = JSON.stringify([procedure, version])
      const { oldest, count } = kinds.get(key) ?? { oldest: id, count: 0 }
      kinds.set(key, { procedure, version, oldest, count: Math.min(count + 1, 1_000) })
    }
    return [...kinds.values()]
  }

  /** Takes the run for whoever left it a message, if that made it due. */
  #claim(key: RunKey, claimant: Claimant | null, now: number): Claimed | null {
    const run = this.#tables.runsByKey.get(key)
    return run && claimant ? claimIfDue(this.#tables, run, claimant, now) : null
  }

  async retryStuck(claimant: Claimant): Promise<number> {
    this.#checkOpen()
    const stuck = this.#allRuns().filter(
      (run) =>
        run.mark === 'stuck' && run.worker === null && run.wakeAt === null && canExecute(run, claimant),
    )
    for (const run of stuck) run.wakeAt = this.#now()
    if (stuck.length > 0) this.#hint()
    return stuck.length
  }

  async retry(key: RunKey, mark: Exclude<Mark, 'none'>): Promise<boolean> {
    this.#checkOpen()
    const run = this.#tables.runsByKey.get(key)
    if (!run || run.mark !== mark || run.worker !== null) return false
    const now = this.#now()
    run.wakeAt = Math.min(run.wakeAt ?? now, now)
    if (mark === 'quarantined') Object.assign(run, { mark: 'none', tries: 0 })
    this.#hint()
    return true
  }

  async mailOf(worker: WorkerKey): Promise<readonly { readonly run: RunKey; readonly mail: number }[]> {
    this.#checkOpen()
    const owned = this.#allRuns().filter((run) => run.worker === worker)
    return owned.map(({ run, mail }) => ({ run, mail }))
  }

  // ── reads

  async load(run: RunKey, seq: number, limit: number): Promise<readonly LogEvent[]> {
    this.#checkOpen()
    return this.#tables.runsByKey.get(run)?.events.slice(seq, seq + limit) ?? []
  }

  async mail(run: RunKey, after: number): Promise<readonly Message[]> {
    this.#checkOpen()
    const messages = this.#tables.runsByKey.get(run)?.messages ?? []
    return messages
      .slice(after)
      .filter(({ isUsed }) => !isUsed)
      .map(({ n, at, kind, name, payload }) => ({ n, at, kind, name, payload }))
  }

  async find(id: string): Promise<RunRow | null> {
    this.#checkOpen()
    const run = this.#tables.runs.get(id)
    return run ? showRun(run) : null
  }

  async runs(filter: RunQuery): Promise<readonly RunRow[]> {
    this.#checkOpen()
    const wanted = this.#allRuns().filter((run) => isWanted(run, filter, this.#now()))
    return wanted
      .sort((a, b) => b.run - a.run)
      .slice(0, filter.limit)
      .map(showRun)
  }

  async ask(id: string, position: number): Promise<AskRow | null> {
    this.#checkOpen()
    const ask = this.#tables.runs.get(id)?.asks.get(position)
    return ask ? showAsk(ask) : null
  }

  async askByKey(id: string, key: string): Promise<AskRow | null> {
    this.#checkOpen()
    const ask = this.#tables.runs.get(id)?.asksByKey.get(key)
    return ask ? showAsk(ask) : null
  }

  async asks(filter: AskQuery): Promise<readonly AskRow[]> {
    this.#checkOpen()
    const { now, after, limit } = filter
    return this.#tables.asks
      .filter((ask) => isAsked(ask, filter))
      .map(showAsk)
      .filter((row) => after === null || compareOrder(orderOf(row, now), after) > 0)
      .sort((a, b) => compareOrder(orderOf(a, now), orderOf(b, now)))
      .slice(0, limit)
  }

  // ── hints

  watch(onHint: () => void): () => void {
    const hints = this.#tables.watchers.get(this) ?? new Set()
    this.#tables.watchers.set(this, hints.add(onHint))
    return () => hints.delete(onHint)
  }

  /** Tells the other processes. */
  #hint(): void {
    for (const [{ process }, hints] of this.#tables.watchers) {
      if (process !== this.process)
        for (const onHint of hints) queueMicrotask(() => hints.has(onHint) && onHint())
    }
  }

  #allRuns(): RunRecord[] {
    return [...this.#tables.runs.values()]
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new Error('This connection to the store is not open.')
  }
}
