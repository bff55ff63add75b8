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
  NewAsk,
  NewEvent,
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
import {
  type AskRecord,
  chooseVersion,
  compareOrder,
  isAsked,
  isDue,
  isWanted,
  orderOf,
  type RunRecord,
  showAsk,
  showClaimed,
  showRun,
  type Tables,
  type WorkerRecord,
} from './tables.ts'

/**
 * The smallest correct store. Every method does its whole work in the caller's own call, before the first
 * `await`, so that nothing ever sees half of it: the transaction of a single-threaded program.
 */
export class MemoryConnection implements StorePort {
  readonly #tables: Tables
  readonly #now: () => number
  /** The workers of this process. */
  readonly #workers: WorkerRecord[] = []
  #isOpen = false

  constructor(tables: Tables, now: () => number) {
    this.#tables = tables
    this.#now = now
  }

  async open(): Promise<void> {
    this.#isOpen = true
  }

  /** As the end of its process: whoever did not release its runs is dead from then on. */
  async close(): Promise<void> {
    this.#isOpen = false
    for (const worker of this.#workers) worker.isDead = true
    this.#tables.watchers.delete(this)
  }

  async now(): Promise<number> {
    this.#checkOpen()
    return this.#now()
  }

  // ── workers

  async register({ leaseMs }: NewWorker): Promise<WorkerKey> {
    this.#checkOpen()
    const worker = this.#tables.workers.size + 1
    const record = { worker, leaseMs, beatAt: this.#now(), isDead: false }
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
      if (record.beatAt + record.leaseMs < now) record.isDead = true
    }
    const orphans = this.#allRuns().filter(({ worker }) => worker !== null && !this.#isAlive(worker))
    for (const run of orphans) {
      handBack(run, now)
      run.tries++
    }
    if (orphans.length > 0) this.#hint()
    return orphans.length
  }

  async release(worker: WorkerKey): Promise<void> {
    this.#checkOpen()
    for (const run of this.#allRuns()) if (run.worker === worker) handBack(run, this.#now())
    const record = this.#tables.workers.get(worker)
    if (record) record.isDead = true
    this.#hint()
  }

  // ── the writes

  async create(runs: readonly NewRun[]): Promise<readonly Created[]> {
    this.#checkOpen()
    const created = runs.map((run) => this.#createOne(run, this.#now()))
    this.#hint()
    return created
  }

  #createOne(given: NewRun, at: number): Created {
    const known = this.#tables.runs.get(given.id)
    if (known) return { outcome: 'exists', run: known.run }
    const run: RunRecord = {
      run: this.#tables.runs.size + 1,
      id: given.id,
      procedure: given.procedure,
      createdAt: at,
      tags: [...given.tags],
      startedBy: given.startedBy,
      events: [],
      messages: [],
      asks: new Map(),
      version: given.version,
      worker: given.worker,
      wakeAt: null,
      epoch: 1,
      mail: 0,
      state: 'live',
      mark: 'none',
      tries: 0,
      link: copy(given.link),
      reason: null,
      endedAt: null,
      info: null,
    }
    if (!this.#isAlive(given.worker)) {
      run.worker = null
      run.wakeAt = at
    }
    appendEvent(run, given.started, null, at)
    this.#tables.runs.set(run.id, run)
    this.#tables.runsByKey.set(run.run, run)
    return { outcome: 'created', run: run.run, at }
  }

  async commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    this.#checkOpen()
    const outcomes = units.map((unit) => this.#commitOne(worker, unit, this.#now()))
    this.#hint()
    return outcomes
  }

  #commitOne(worker: WorkerKey, unit: Unit, at: number): UnitOutcome {
    const run = this.#tables.runsByKey.get(unit.run)
    if (!run || run.epoch !== unit.epoch || run.worker !== worker) return { outcome: 'fenced' }
    if (run.events.length !== unit.head) return { outcome: 'conflict' }
    if (unit.strict && run.mail !== unit.seen) return { outcome: 'mail', mail: run.mail }
    if (isAnyTaken([...run.asks.values()], unit.opens)) return { outcome: 'conflict' }

    for (const [index, event] of unit.events.entries()) appendEvent(run, event, unit.seals[index] ?? null, at)
    for (const ask of unit.opens) openAsk(run, ask, at)
    for (const { position, status } of unit.closes) {
      const ask = run.asks.get(position)
      if (ask?.status === 'open') Object.assign(ask, { status, closedAt: at })
    }
    for (const message of run.messages) {
      if (unit.consumes.includes(message.n)) Object.assign(message, { isUsed: true, payload: null })
    }
    if (unit.link) run.link = copy(unit.link)
    if (unit.info) run.info = copy(unit.info)
    run.mark = 'none'
    run.tries = 0
    return { outcome: 'ok', at, epoch: run.epoch, mail: run.mail, parked: this.#letGo(run, unit, at) }
  }

  /** What becomes of the run after its unit. Returns whether it was parked. */
  #letGo(run: RunRecord, { then, seen }: Unit, at: number): boolean {
    if (then.do === 'keep' || (then.do === 'park' && run.mail !== seen)) return false
    run.worker = null
    if (then.do === 'park') {
      run.wakeAt = then.wakeAt
      return true
    }
    run.state = then.state
    run.endedAt = at
    return false
  }

  async send(messages: readonly NewMessage[], claimant: Claimant | null): Promise<readonly Sent[]> {
    this.#checkOpen()
    const now = this.#now()
    const sent = messages.map((message) => this.#sendOne(message, now))
    this.#hint()
    return sent.map((one) =>
      'run' in one ? { ...one, claimed: this.#claimIfDue(one.run, claimant, now) } : one,
    )
  }

  #sendOne({ run: id, kind, name, key, payload }: NewMessage, at: number): Sent {
    const run = this.#tables.runs.get(id)
    if (!run) return { outcome: 'missing' }
    if (key !== null && run.messages.some((message) => message.key === key)) {
      return { outcome: 'duplicate', run: run.run, claimed: null }
    }
    const asked = kind === 'early' ? [...run.asks.values()].find((ask) => ask.key === name) : undefined
    if (asked) return { outcome: 'asked', position: asked.position }
    if (run.state !== 'live') return { outcome: 'ended', state: run.state }
    leaveMessage(run, { at, kind, name, key, payload })
    return { outcome: 'stored', run: run.run, claimed: null }
  }

  async answer(answers: readonly NewAnswer[], claimant: Claimant | null): Promise<readonly Answered[]> {
    this.#checkOpen()
    const now = this.#now()
    const answered = answers.map((answer) => this.#answerOne(answer, now))
    this.#hint()
    return answered.map((one) =>
      one.outcome === 'answered' ? { ...one, claimed: this.#claimIfDue(one.run, claimant, now) } : one,
    )
  }

  #answerOne({ run: id, position, by, payload }: NewAnswer, at: number): Answered {
    const run = this.#tables.runs.get(id)
    const ask = run?.asks.get(position)
    if (!run || !ask) return { outcome: 'missing' }
    const isOpen =
      run.state === 'live' && ask.status === 'open' && (ask.closesAt === null || at < ask.closesAt)
    if (!isOpen) return { outcome: 'closed', ask: showAsk(run, ask) }
    Object.assign(ask, { status: 'answered', closedAt: at, answeredBy: by, answer: copy(payload) })
    leaveMessage(run, { at, kind: 'answer', name: String(position), key: null, payload })
    return { outcome: 'answered', run: run.run, at, claimed: null }
  }

  async mark(
    worker: WorkerKey,
    key: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
  ): Promise<boolean> {
    this.#checkOpen()
    const run = this.#tables.runsByKey.get(key)
    if (!run || run.worker !== worker || run.epoch !== epoch) return false
    Object.assign(run, { worker: null, epoch: epoch + 1, mark, reason: copy(reason) })
    return true
  }

  // ── ownership

  async claim(claimant: Claimant, limit: number): Promise<Claims> {
    this.#checkOpen()
    const now = this.#now()
    const runs = this.#allRuns()
      .filter((run) => isDue(run, now))
      .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || a.run - b.run)
      .filter((run) => this.#isAlive(claimant.worker) && canClaim(run, claimant))
      .slice(0, limit)
      .flatMap(({ run }) => this.#claimIfDue(run, claimant, now) ?? [])
    const next = this.#allRuns().flatMap(({ worker, wakeAt }) =>
      worker === null && wakeAt !== null ? wakeAt : [],
    )
    return { runs, at: now, nextDueAt: next.length > 0 ? Math.min(...next) : null }
  }

  #claimIfDue(key: RunKey, claimant: Claimant | null, now: number): Claimed | null {
    const run = this.#tables.runsByKey.get(key)
    if (!run || !claimant || !isDue(run, now) || !this.#isAlive(claimant.worker)) return null
    const version = chooseVersion(run, claimant)
    if (version === undefined || !canClaim(run, claimant)) return null
    Object.assign(run, { version, worker: claimant.worker, epoch: run.epoch + 1, wakeAt: null })
    return showClaimed(run, version)
  }

  async retryStuck(claimant: Claimant): Promise<number> {
    this.#checkOpen()
    const stuck = this.#allRuns().filter(
      (run) =>
        run.mark === 'stuck' &&
        run.worker === null &&
        run.wakeAt === null &&
        chooseVersion(run, claimant) !== undefined,
    )
    for (const run of stuck) run.wakeAt = this.#now()
    if (stuck.length > 0) this.#hint()
    return stuck.length
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
      .filter(({ n, isUsed }) => n > after && !isUsed)
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
    return this.#findAsk(id, (ask) => ask.position === position)
  }

  async askByKey(id: string, key: string): Promise<AskRow | null> {
    return this.#findAsk(id, (ask) => ask.key === key)
  }

  #findAsk(id: string, isIt: (ask: AskRow) => boolean): AskRow | null {
    this.#checkOpen()
    const run = this.#tables.runs.get(id)
    const ask = run && [...run.asks.values()].map((one) => showAsk(run, one)).find(isIt)
    return ask ?? null
  }

  async asks(filter: AskQuery): Promise<readonly AskRow[]> {
    this.#checkOpen()
    const { now, after, limit } = filter
    return this.#allRuns()
      .flatMap((run) => [...run.asks.values()].map((ask) => showAsk(run, ask)))
      .filter((row) => isAsked(row, filter))
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

  /** Tells the other connections, as another process would be told. */
  #hint(): void {
    for (const [connection, hints] of this.#tables.watchers) {
      if (connection !== this) for (const onHint of hints) queueMicrotask(() => hints.has(onHint) && onHint())
    }
  }

  #allRuns(): RunRecord[] {
    return [...this.#tables.runs.values()]
  }

  #isAlive(worker: WorkerKey | null): boolean {
    return worker !== null && this.#tables.workers.get(worker)?.isDead === false
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new Error('This connection to the store is not open.')
  }
}

function handBack(run: RunRecord, now: number): void {
  Object.assign(run, { worker: null, epoch: run.epoch + 1, wakeAt: now })
}

function appendEvent(run: RunRecord, event: NewEvent, link: Uint8Array | null, at: number): void {
  const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
  const bytes = { payload: copy(payload), link: copy(link) }
  run.events.push({
    seq: run.events.length,
    at,
    epoch: run.epoch,
    type,
    position,
    turn,
    kind,
    name,
    nth,
    failed,
    tookMs,
    ...bytes,
  })
}

function leaveMessage(run: RunRecord, message: Omit<Message, 'n'> & { readonly key: string | null }): void {
  run.mail++
  run.messages.push({ ...message, n: run.mail, isUsed: false, payload: copy(message.payload) })
  if (run.worker === null && run.mark === 'none') run.wakeAt = Math.min(run.wakeAt ?? message.at, message.at)
}

/** Whether two asks would have one position, or one key. */
function isAnyTaken(asks: readonly AskRecord[], opens: readonly NewAsk[]): boolean {
  const all: readonly Pick<NewAsk, 'position' | 'key'>[] = [...asks, ...opens]
  const keys = all.flatMap(({ key }) => key ?? [])
  return new Set(all.map(({ position }) => position)).size < all.length || new Set(keys).size < keys.length
}

function openAsk(run: RunRecord, { answered, ...ask }: NewAsk, at: number): void {
  run.asks.set(ask.position, {
    ...ask,
    payload: copy(ask.payload),
    openedAt: at,
    status: answered ? 'answered' : 'open',
    closedAt: answered ? at : null,
    answeredBy: answered ? answered.by : null,
    answer: answered ? copy(answered.payload) : null,
  })
}

/** The caller may reuse its buffer. */
function copy<B extends Uint8Array | null>(bytes: B): B {
  return (bytes && new Uint8Array(bytes)) as B
}

function canClaim(run: RunRecord, claimant: Claimant): boolean {
  return chooseVersion(run, claimant) !== undefined && run.tries <= (claimant.mostTries ?? run.tries)
}
