import { type Answer, type Client, type Logger, PawlError, ref } from '@pawl/core'
import {
  installGuard,
  installShield,
  measureRoundsBy,
  readEngineOptions,
  type StoreCall,
} from '@pawl/core/internal'
import type { RunKey, Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import { createStore } from '../../src/memory/store.ts'
import { makeTables, type RunRecord, type Tables } from '../../src/memory/tables.ts'
import { createSeededEntropy } from '../../src/seeded-entropy.ts'
import { VirtualClock } from '../../src/virtual-clock.ts'
import { Bodies } from './bodies.ts'
import { Chance } from './chance.ts'
import { type KidRef, kidCount, kidName } from './family.ts'
import { countRetries, rootOf } from './lives.ts'
import { connectThrough } from './network.ts'
import { SimulatedProcess } from './process.ts'
import {
  type AnyProcedure,
  drawKid,
  drawProgram,
  keysOf,
  makeProcedure,
  type Program,
  type SignalName,
} from './program.ts'
import { makeWrongProcedure } from './wrong-code.ts'

export interface WorldOptions {
  readonly seed: number
  readonly runs: number
  /** Rounds with faults; then it is calm until all runs have ended. */
  readonly rounds: number
}

/** What was acknowledged. */
export interface Acknowledged {
  /** Runs that were cancelled before they had ended, or after. */
  readonly cancels: Set<string>
  readonly runs: Set<string>
  readonly signals: { readonly run: string; readonly name: SignalName; readonly id: string }[]
  readonly answers: { readonly run: string; readonly where: string; readonly by: string }[]
  /** Replies to updates. Null: it was refused. */
  readonly replies: { readonly run: string; readonly id: string; readonly reply: string | null }[]
}

/** Of programs. */
const names = 4
const leaseMs = 1_000
/** Calm rounds within which every run has to end. */
const maxCalmRounds = 5_000
/** The same in a world where a run kills its workers: it is found after a dozen deaths, each with its tests. */
const maxCalmRoundsIfDeadly = 60_000
/** Retries of failed runs once it is calm: a run that always fails would otherwise never be left as it is. */
const maxCalmRetries = 3

const expectedCodes = [
  'ask-closed',
  'ask-not-found',
  'run-cancelled',
  'run-ended',
  'run-failed',
  'run-live',
  'run-not-found',
  'run-quarantined',
  'run-rolled-back',
  'engine-stopped',
  'procedure-unknown',
  // Of a run that wrong code was at: as long as it is stuck.
  'foreign-await',
  'nondeterminism',
  'procedure-broken',
]

/** Workers, clients and people on one store, in a time and under faults that chance makes up. */
export class World {
  readonly tables: Tables = makeTables()
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  readonly acknowledged: Acknowledged = {
    runs: new Set(),
    cancels: new Set(),
    signals: [],
    answers: [],
    replies: [],
  }
  readonly bodies = new Bodies(this.tables)
  /** The results that waiting callers received. */
  readonly results: { readonly run: string; readonly result: unknown }[] = []
  /** Lines of error and warning. */
  readonly lines: string[] = []
  /** What no caller should see. */
  readonly surprises: string[] = []
  readonly diary: string[] = []
  /**
   * Runs that were to be retried themselves, and where the generation of their parent began then: null if there were other retries
   * meanwhile. All other runs are retried with their parents.
   */
  readonly retried = new Map<string, number | null>()
  /** Runs that were to be deleted. */
  readonly deleted = new Set<string>()
  /** The number of runs that were deleted although, or because, they kill their workers. */
  deadlyDeleted = 0
  /** Workers that were at work when all runs had ended, or were given up. */
  restless: readonly string[] = []
  /** Of the names 0 to 3, then the second version of the last one, then those of children. */
  readonly programs: readonly Program[]
  readonly #options: WorldOptions
  readonly #chance: Chance
  readonly #procedures: readonly AnyProcedure[]
  /** The same by name, with other code. */
  readonly #wrongProcedures: readonly AnyProcedure[]
  /** Whether wrong code is deployed from time to time. */
  readonly hasMistakes: boolean
  /** Runs are cancelled. */
  readonly #hasCancels: boolean
  /** A run kills its workers, or may. */
  #isDeadly = false
  #processes: SimulatedProcess[] = []
  /** Up to which message a run had seen its mail when it was released. */
  readonly #parkedWith = new Map<RunKey, number>()
  /** The retries that were not acknowledged yet. */
  readonly #retrying = new Set<{ readonly client: Client; readonly run: string }>()
  #count = 0
  #isCalm = false
  round = 0

  constructor(options: WorldOptions) {
    this.#options = options
    this.#chance = new Chance(options.seed)
    const { runs } = options
    const chance = this.#chance
    const kids = Array.from({ length: kidCount }, (_, kid) => kid)
    const kidPrograms = kids.map((kid) => drawKid({ chance, kids: kids.slice(kid + 1), runs }, kidName(kid)))
    const programs = Array.from({ length: names + 1 }, (_, i) =>
      drawProgram({ chance, kids, runs }, `program ${Math.min(i, names - 1)}`, i < names ? 1 : 2),
    )
    this.programs = [...programs, ...kidPrograms]
    const kidRefs: KidRef[] = []
    this.#procedures = this.programs.map((program) => makeProcedure(program, this.bodies, kidRefs))
    kidRefs.push(...(this.#procedures.slice(programs.length) as unknown as KidRef[]))
    this.#wrongProcedures = this.programs.map((program) =>
      makeWrongProcedure(program, {
        ...{ tables: this.tables, chance: this.#chance, stage: this.bodies, kids: kidRefs },
        onKept: (run) => this.surprises.push(`wrong code continued with ${run}`),
      }),
    )
    this.hasMistakes = this.#chance.oneIn(6)
    this.#hasCancels = this.#chance.oneIn(2)
    if (this.#chance.oneIn(6)) {
      if (this.#chance.oneIn(2)) this.bodies.deadly.add(this.#anyRun())
      else this.bodies.parentOfDeadly = this.#anyRun()
      this.#isDeadly = true
    }
    this.bodies.onDeadly = (process) => {
      this.#note(`a run kills ${process.name}`)
      this.#kill(process, this.#chance.oneIn(2))
      // When it is calm one that has all procedures follows.
      if (this.#isCalm) this.#addProcess(true)
    }
  }

  async play(): Promise<void> {
    // No time passes within a round: the seed alone decides how far it gets.
    const undo = [installShield(), installGuard('virtual'), measureRoundsBy(() => 0)]
    try {
      for (let i = 0; i < 2; i++) this.#addProcess(true)
      for (let i = 0; i < 2; i++) this.#addProcess(false)
      for (; this.round < this.#options.rounds; this.round++) {
        await this.#passTime()
        for (let acts = this.#chance.below(3); acts > 0; acts--) this.#act()
      }
      await this.#calmDown()
    } finally {
      for (const process of this.#processes) process.kill()
      for (const undoOne of undo) undoOne()
    }
  }

  /** No faults any more, and people who answer whatever is asked. */
  async #calmDown(): Promise<void> {
    this.#isCalm = true
    this.#note('calm')
    for (const process of this.#processes.filter(({ isWrong }) => isWrong)) this.#remove(process)
    for (const process of this.#processes) process.thaw()
    this.#addProcess(true)
    const client = this.#addProcess(false).client
    for (const id of [...Array(this.#options.runs).keys()])
      if (!this.tables.runs.has(`run ${id}`)) this.#start(client, id)
    const rounds = this.#isDeadly ? maxCalmRoundsIfDeadly : maxCalmRounds
    let retries = maxCalmRetries
    for (let calm = 0; calm < rounds && this.#isAnythingLeft; calm++, this.round++) {
      await this.#passTime()
      if (calm % 20 !== 0) continue
      this.#answerOne(client)
      this.#releaseOne(client)
      if (retries-- > 0) this.#retryFailed(() => client)
      for (const { id, state } of this.tables.runs.values()) if (state === 'live') this.#signal(client, id)
    }
    this.restless = this.#restless
  }

  get #restless(): readonly string[] {
    return this.#processes.filter(({ isAtRest }) => !isAtRest).map(({ name }) => name)
  }

  get #isAnythingLeft(): boolean {
    const ids = Array.from({ length: this.#options.runs }, (_, id) => `run ${id}`)
    const areAllThere = ids.every((id) => this.tables.runs.has(id))
    const isAnyLive = [...this.tables.runs.values()].some(
      ({ state, mark }) => state === 'live' && mark !== 'quarantined',
    )
    const isRetried = [...this.#retrying].some(({ client }) =>
      this.#processes.some((process) => process.client === client),
    )
    return !areAllThere || isAnyLive || isRetried || this.#restless.length > 0
  }

  // ── time

  async #passTime(): Promise<void> {
    const chance = this.#chance
    await goRound(chance.between(1, 6))
    this.clock.moveTo(this.clock.now + this.#drawStride())
    this.#findStranded()
  }

  /** Often just up to the next timer: what happens then meets what is due. */
  #drawStride(): number {
    const chance = this.#chance
    const next = (this.clock.nextAt ?? this.clock.now) - this.clock.now
    if (chance.oneIn(2) && next < leaseMs / 5) return Math.max(0, next)
    if (chance.oneIn(3)) return 0
    return chance.oneIn(20) ? chance.between(50, 600) : chance.between(1, 30)
  }

  /** A run that was released despite an unseen message sleeps forever. */
  #findStranded(): void {
    for (const { run, id, worker, state, mark, wakeAt, mail } of this.tables.runs.values()) {
      const parkedWith = this.#parkedWith.get(run)
      const sleeps =
        state === 'live' && mark === 'none' && worker === null && (wakeAt === null || wakeAt > this.clock.now)
      if (sleeps && parkedWith !== undefined && mail > parkedWith)
        this.surprises.push(`${id} sleeps with mail ${mail}, and was released with ${parkedWith}`)
    }
  }

  #onDone(process: SimulatedProcess, call: StoreCall, args: readonly unknown[], outcome: unknown): void {
    if (call === 'workers.register') process.worker = outcome as WorkerKey
    if (call !== 'log.commit') return
    const units = args[1] as readonly Unit[]
    for (const [i, one] of (outcome as readonly UnitOutcome[]).entries()) {
      const unit = units[i] as Unit
      if (one.outcome === 'ok' && one.parked) this.#parkedWith.set(unit.run, unit.seen)
    }
  }

  // ── what happens

  #act(): void {
    const chance = this.#chance
    if (this.#workers.length < 2) this.#addProcess(true)
    const what = chance.below(100)
    if (what < 8) this.#start(this.#anyClient(), chance.below(this.#options.runs))
    else if (what < 20) this.#answerOne(this.#anyClient())
    else if (what < 24) this.#answerEarly(this.#anyClient())
    else if (what < 32) this.#signal(this.#anyClient(), this.#anyTarget())
    else if (what < 33) this.#crash()
    else if (what < 34) this.#freezeOne()
    else if (what < 38) for (const process of this.#processes) process.thaw()
    else if (what < 39 && this.#chance.oneIn(2)) this.#stopOne()
    else if (what < 40 && this.hasMistakes) this.#addProcess(true, true)
    else if (what < 43 && this.#hasCancels) this.#cancel(this.#anyClient(), this.#anyTarget())
    else if (what < 44) this.#retry(this.#anyClient(), this.#anyTarget())
    else if (what < 49) this.#update(this.#anyClient(), this.#anyTarget())
    else if (what < 50) this.#releaseOne(this.#anyClient())
    else if (what < 56) this.#retryFailed()
  }

  get #workers(): readonly SimulatedProcess[] {
    return this.#processes.filter(({ hasWorker }) => hasWorker)
  }

  #anyClient(): Client {
    return this.#chance.pick(this.#processes.filter(({ isUp }) => isUp)).client
  }

  #anyRun(): string {
    return `run ${this.#chance.below(this.#options.runs)}`
  }

  /** Some are children. */
  #anyTarget(): string {
    const kids = this.#chance.oneIn(3) ? this.#kids : []
    return kids.length === 0 ? this.#anyRun() : this.#chance.pick(kids).id
  }

  get #kids(): readonly RunRecord[] {
    return [...this.tables.runs.values()].filter(({ parent }) => parent !== null)
  }

  /** Which programs a run may have, by index. */
  #versionsOf(id: number): readonly number[] {
    return this.programs.flatMap(({ name }, index) => (name === `program ${id % names}` ? [index] : []))
  }

  #start(client: Client, id: number): void {
    const run = `run ${id}`
    const procedure = this.#chance.pick(this.#versionsOf(id).map((index) => this.#procedures[index]))
    if (procedure === undefined) return
    this.#note(`start ${run}`)
    const target = this.#chance.oneIn(2) ? procedure : ref<AnyProcedure>(procedure.name)
    const started = client.run(target, {}, { id: run })
    this.#expect(`start of ${run}`, started, () => this.acknowledged.runs.add(run))
    if (!this.#isCalm && !this.#chance.oneIn(3)) return
    const ended = started
      .then((handle) => handle.result())
      .then((result) => this.results.push({ run, result }))
    this.#expect(`result of ${run}`, ended)
  }

  #answerOne(client: Client): void {
    this.#expect(
      'answer',
      (async () => {
        const { items } = await client.inbox.list({ limit: 500 })
        if (items.length === 0) return
        const asks = this.#isCalm ? items : [this.#chance.pick(items)]
        for (const ask of asks) {
          const by = `user:${++this.#count}` as const
          this.#note(`answer ${ask.id} by ${by}`)
          const answer = this.#drawAnswer(ask.kind, by)
          await client.inbox.answer(ask.id, answer, { as: by })
          this.acknowledged.answers.push({ run: ask.run, where: ask.message, by })
        }
      })(),
    )
  }

  #drawAnswer(kind: string, by: string): Answer {
    if (kind === 'input') return { value: { v: by } }
    return kind === 'approve'
      ? { approved: this.#chance.oneIn(2) }
      : { choice: this.#chance.pick(['x', 'y']) }
  }

  #answerEarly(client: Client): void {
    const id = this.#chance.below(this.#options.runs)
    const [index = 0, second] = this.#versionsOf(id)
    // Which of them will ask is not known yet.
    if (second !== undefined) return
    const { root, rounds } = this.programs[index] as Program
    const keys = keysOf(root, rootOf(this.#chance.between(1, rounds)))
    if (keys.length === 0) return
    const { key, kind } = this.#chance.pick(keys)
    const by = `user:${++this.#count}` as const
    const run = `run ${id}`
    this.#note(`early answer ${run} ${key} by ${by}`)
    const answer = this.#drawAnswer(kind, by)
    this.#expect('early answer', client.inbox.answer({ run, key }, answer, { as: by }), () =>
      this.acknowledged.answers.push({ run, where: key, by }),
    )
  }

  #signal(client: Client, run: string): void {
    // The child that sends `c` may have ended while its parent had failed.
    const record = this.#isCalm ? this.tables.runs.get(run) : undefined
    const isAlone = record !== undefined && countRetries(record) > 0
    const name = this.#chance.pick(isAlone ? (['a', 'b', 'c'] as const) : (['a', 'b'] as const))
    const id = `${name}${++this.#count}`
    this.#note(`signal ${run} ${id}`)
    const handle = client.get(this.#procedures[0] as never, run) as unknown as {
      signal(name: string, payload: string, options: object): Promise<void>
    }
    const times = this.#chance.oneIn(5) ? 2 : 1
    for (let i = 0; i < times; i++)
      this.#expect('signal', handle.signal(name, id, { id }), () =>
        this.acknowledged.signals.push({ run, name, id }),
      )
  }

  #cancel(client: Client, run: string): void {
    this.#note(`cancel ${run}`)
    const reason = `reason ${++this.#count}`
    this.#expect('cancel', client.cancel(run, reason), () => this.acknowledged.cancels.add(run))
  }

  /** A marked run resumes, and a failed one continues in a generation that takes the place of the one that failed. */
  #retry(client: Client, run: string): void {
    const record = this.tables.runs.get(run)
    if (record === undefined || (record.state === 'live' && record.mark === 'none')) return
    const { state, base } = record
    this.#note(`retry ${run}`)
    if (state !== 'live') this.#noteRetry(record)
    const retried = client.retry(run)
    const call = { client, run }
    this.#retrying.add(call)
    const onSettled = (): void => void this.#retrying.delete(call)
    retried.then(onSettled, onSettled)
    this.#expect('retry', retried, () => {
      if (state === 'failed' && record.base === base)
        this.surprises.push(`the retry of ${run} was acknowledged and is lost`)
    })
  }

  #noteRetry({ id, parent }: RunRecord): void {
    for (const { run } of this.#retrying) if (this.retried.has(run)) this.retried.set(run, null)
    const base = this.tables.runs.get(parent?.run ?? '')?.base ?? null
    this.retried.set(id, this.#retrying.size > 0 ? null : base)
  }

  /** Often two callers do it at once. */
  #retryFailed(draw = () => this.#anyClient()): void {
    const failed = [...this.tables.runs.values()].filter(({ state }) => state === 'failed')
    if (failed.length === 0) return
    const { id } = this.#chance.pick(failed)
    for (let times = this.#chance.between(1, 2); times > 0; times--) this.#retry(draw(), id)
  }

  #update(client: Client, run: string): void {
    const name = this.#chance.oneIn(6) ? 'ignored' : 'set'
    const id = `u${++this.#count}`
    this.#note(`update ${run} ${id}`)
    const times = this.#chance.oneIn(3) ? 2 : 1
    for (let i = 0; i < times; i++)
      this.#expect('update', this.#callUpdate(i === 0 ? client : this.#anyClient(), run, name, id))
  }

  async #callUpdate(client: Client, run: string, name: string, id: string): Promise<void> {
    try {
      const reply = (await client.get(run).update(name, id, { id })) as string
      this.acknowledged.replies.push({ run, id, reply })
    } catch (error) {
      if (!PawlError.is(error, 'update-refused') && !PawlError.is(error, 'update-unfinished')) throw error
      this.acknowledged.replies.push({ run, id, reply: null })
    }
  }

  /** A quarantined child is retried, deleted, or both: its parent waits for it. */
  #releaseOne(client: Client): void {
    const quarantined = this.#kids.filter(({ mark, worker }) => mark === 'quarantined' && worker === null)
    if (quarantined.length === 0) return
    const { id } = this.#chance.pick(quarantined)
    const what = this.#chance.pick(['retry', 'delete', 'both'] as const)
    if (what !== 'retry') this.#delete(client, id)
    if (what !== 'delete') this.#retry(this.#anyClient(), id)
  }

  #delete(client: Client, id: string): void {
    this.#note(`delete ${id}`)
    this.deleted.add(id)
    this.#expect('delete', client.delete(id), () => {
      if (this.bodies.deadly.has(id)) this.deadlyDeleted++
    })
  }

  #crash(): void {
    const victim = this.#chance.pick(this.#workers)
    const isSeen = this.#chance.oneIn(2)
    this.#note(`kill ${victim.name}${isSeen ? ', seen' : ''}`)
    this.#kill(victim, isSeen)
  }

  #kill(victim: SimulatedProcess, isSeen: boolean): void {
    this.#remove(victim)
    // The store can tell that a process of its own machine is gone; of another machine only the lease tells.
    const record = this.tables.workers.get(victim.worker ?? -1)
    if (isSeen && record !== undefined) record.beatAt = Number.NEGATIVE_INFINITY
  }

  #remove(victim: SimulatedProcess): void {
    victim.kill()
    this.#processes = this.#processes.filter((process) => process !== victim)
  }

  #freezeOne(): void {
    const victim = this.#chance.pick(this.#processes)
    this.#note(`freeze ${victim.name}`)
    victim.freeze()
  }

  #stopOne(): void {
    const leaver = this.#chance.pick(this.#workers)
    if (leaver.state !== 'running') return
    this.#note(`stop ${leaver.name}`)
    this.#processes = this.#processes.filter((process) => process !== leaver)
    this.#expect('stop', leaver.stop(this.#chance.between(0, 3_000)))
  }

  /** Callers see only faults and refusals. */
  #expect(what: string, call: Promise<unknown>, onDone: () => void = () => {}): void {
    call.then(onDone, (error: unknown) => {
      const { code, message } = error as { readonly code?: string; readonly message: string }
      if (message.startsWith('injected') || (code !== undefined && expectedCodes.includes(code))) return
      this.surprises.push(`${what}: ${error instanceof Error ? error.stack : String(error)}`)
    })
  }

  // ── processes

  #addProcess(isWorker: boolean, isWrong = false): SimulatedProcess {
    const chance = this.#chance
    const n = ++this.#count
    const name = `${isWrong ? 'wrong ' : ''}${isWorker ? 'worker' : 'client'} ${n}`
    this.#note(`begin ${name}`)
    const verdict = chance.pick(['allow', 'allow', 'human', 'deny'] as const)
    const settings = isWorker
      ? {
          ...readEngineOptions({
            procedures: [...this.#drawProcedures(isWrong), this.bodies.child],
            lease: `${leaseMs}ms`,
            concurrency: chance.pick([1, 3, 100]),
            policy: () => verdict,
          } as never),
        }
      : null
    const process: SimulatedProcess = new SimulatedProcess({
      name,
      isWrong,
      clock: this.clock,
      pace: chance.pick([1, 1, 0.9, 1.1]),
      entropy: createSeededEntropy(this.#options.seed, n),
      logger: this.#logger(name, isWrong),
      settings,
      keep: chance.pick([
        { runs: 0, bytes: 0 },
        { runs: 2, bytes: 1e6 },
        { runs: 1_000, bytes: 1e9 },
      ]),
      slices: chance.pick([
        { begun: 1, drafts: 1 },
        { begun: 2, drafts: 3 },
        { begun: 250, drafts: 500 },
      ]),
      replay: chance.oneIn(3) ? 'always' : 'when-needed',
      connect: (caller) =>
        connectThrough(
          createStore(this.tables, () => this.clock.now),
          {
            ...{ chance, caller, tables: this.tables, isCalm: () => this.#isCalm },
            onDone: (call, args, outcome) => this.#onDone(process, call, args, outcome),
          },
        ),
      onBody: (at) => this.bodies.announce(at),
    })
    this.#processes.push(process)
    process.start().catch((error: Error) => {
      if (!error.message.startsWith('injected')) this.surprises.push(`start of ${name}: ${error.stack}`)
      this.#processes = this.#processes.filter((one) => one !== process)
      process.kill()
    })
    return process
  }

  /** Most workers have them all, as the last one, who comes when it is calm. */
  #drawProcedures(isWrong: boolean): readonly AnyProcedure[] {
    const chance = this.#chance
    if (this.#isCalm || chance.oneIn(2)) return isWrong ? this.#wrongProcedures : this.#procedures
    return this.#procedures.flatMap((right, i) => {
      if (chance.oneIn(4)) return []
      return isWrong && chance.oneIn(2) ? (this.#wrongProcedures[i] ?? []) : right
    })
  }

  #logger(name: string, isWrong: boolean): Logger {
    const say = (level: string) => (message: string, fields?: object) => {
      const { error } = (fields ?? {}) as { readonly error?: Error }
      this.#note(`${name} ${level}: ${message} ${error?.message ?? ''}`)
      const isExpected = isWrong && message.includes(' is stuck (')
      if (error?.message.startsWith('injected') !== true && !isExpected)
        this.lines.push(`${level}: ${message} ${error?.stack ?? ''}`)
    }
    return { debug: () => {}, info: () => {}, warn: say('warn'), error: say('error') }
  }

  #note(what: string): void {
    this.diary.push(`${this.round} ${this.clock.now % 1e8} ${what}`)
  }
}

/** Lets the event loop go round so often. */
async function goRound(loops: number): Promise<void> {
  for (let left = loops; left > 0; left--) await new Promise<void>((next) => setImmediate(next))
}
