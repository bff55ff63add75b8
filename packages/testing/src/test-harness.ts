import type { Client, Logger } from '@pawl/core'
import {
  consoleLogger,
  createChecker,
  createConnectedClient,
  currentBody,
  type EngineSettings,
  installGuard,
  installShield,
  type LocalWorker,
  makeSafe,
  Notifier,
  Plugins,
  type StoreCall,
  sha256,
} from '@pawl/core/internal'
import type { Unit, UnitOutcome, WholeStore } from '@pawl/core/storage'
import { Bodies, Calls, type Doubles } from './doubles.ts'
import type { Memory } from './memory-store.ts'
import { observeStore } from './observed-store.ts'
import { People } from './people.ts'
import { ProcessLife } from './process-life.ts'
import { createSeededEntropy } from './seeded-entropy.ts'
import type { Participant, VirtualTime } from './virtual-time.ts'

const quietLogger: Logger = { ...consoleLogger, info: () => {} }

/** Methods with which a client writes. Reads cause no activity. */
const writes: readonly StoreCall[] = ['runs.create', 'mail.send', 'asks.answer']

/** A lease that no jump in time can exceed. */
const unendingMs = 1_000 * 365 * 24 * 60 * 60 * 1_000

export interface RigOptions {
  readonly settings: EngineSettings
  readonly memory: Memory
  readonly time: VirtualTime
  readonly doubles: Doubles
  readonly replay: 'always' | 'on-crash'
  readonly seed: number
}

/** Runs a client and a succession of worker lives on one store and one virtual time. */
export class TestHarness implements Participant {
  readonly time: VirtualTime
  readonly client: Client
  readonly check: ReturnType<typeof createChecker>
  readonly people: People
  readonly calls: Calls
  readonly #notifier = new Notifier()
  readonly #isStrict: boolean
  readonly #logger: Logger
  readonly #newLife: () => ProcessLife
  readonly #connection: WholeStore
  readonly #determinism: EngineSettings['determinism']
  readonly #undo: (() => void)[] = []
  readonly #plugins: Plugins
  #life: ProcessLife
  #crashesAlways = false
  /** Step bodies that were killed midway, after a client call from inside them wrote to the store. */
  readonly #killed = new Set<string>()
  #clientCalls = 0
  #burials = 0
  #fault: { readonly error: unknown } | null = null
  signsOfLife = 0

  constructor({ settings: given, memory, time, doubles, replay, seed }: RigOptions) {
    this.time = time
    const entropy = createSeededEntropy(seed, time.participantsSoFar)
    const notifier = this.#notifier
    this.#isStrict = doubles.strict === true
    this.calls = new Calls(doubles)
    this.#logger = given.logger ?? quietLogger
    const observer = given.observer && makeSafe(given.observer, this.#logger)
    const settings = { ...given, observer, leaseMs: unendingMs, logger: this.#logger }
    this.#newLife = () => {
      const bodies = new Bodies(this.calls, () => this.signsOfLife++)
      const life: ProcessLife = new ProcessLife({
        ...{
          settings,
          store: memory.connect(this),
          clock: time.clock,
          entropy,
          bodies,
          notifier,
          replay,
        },
        onCall: (call, args, outcome) => this.#onWorkerCall(call, args, outcome),
      })
      return life
    }
    this.#life = this.#newLife()
    this.#connection = memory.connect(this)
    this.client = createConnectedClient({
      store: observeStore(this.#connection, {
        isGone: () => false,
        onCall: (call) => this.#onClientCall(call),
      }),
      ...{ notifier, entropy, sha256, clock: time.clock.see().clock, logger: this.#logger },
      observer: settings.observer,
      ...{ localWorker: this.#localWorker(), hintsAreSure: true },
      selfApproval: settings.selfApproval,
    })
    this.#plugins = new Plugins(settings.plugins, {
      client: this.client,
      logger: this.#logger,
      clock: time.clock.see().clock,
    })
    this.check = createChecker({ settings, logger: this.#logger, sha256, store: this.#connection })
    const names = given.procedures.map(({ name }) => name)
    this.people = new People(time.clock, this.client.inbox, memory.asks, names)
    this.#determinism = settings.determinism
  }

  /** Starts the first worker, and releases everything if that fails. */
  async start(): Promise<void> {
    try {
      await this.#begin()
    } catch (error) {
      // The first error is the one to report; errors of closing follow from it.
      await this.close().catch(() => {})
      throw error
    }
  }

  async #begin(): Promise<void> {
    this.#undo.push(this.time.join(this))
    this.#undo.push(installShield())
    this.#undo.push(installGuard(this.#determinism))
    await this.#connection.open()
    await this.#plugins.start()
    await this.#life.start()
  }

  // ── the worker and its deaths

  /** Kills the worker and starts another. If `blamed`, the runs it owned count the crash. */
  async replaceWorker(blamed: boolean): Promise<void> {
    const dead = this.#life
    dead.end()
    this.#life = this.#newLife()
    this.#burials++
    try {
      await dead.dispose(blamed)
      await this.#life.start()
      // The dead worker may have written without notifying.
      this.#notifier.notifyAll()
    } catch (error) {
      this.#fault ??= { error }
    } finally {
      this.#burials--
    }
  }

  crashAlways(): void {
    this.#crashesAlways = true
  }

  async stop(withinMs: number): Promise<void> {
    try {
      await this.#plugins.stop()
      await this.#life.worker.stop(withinMs)
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    for (const undo of this.#undo.splice(0)) undo()
    this.#crashesAlways = false
    await this.#plugins.stop()
    this.#life.end()
    await this.client.stop()
    await this.#life.dispose(false)
    await this.#connection.close()
  }

  /** Reports unused doubles and real bodies that ran. @throws Error if the doubles are strict */
  checkDoubles(): void {
    const sentences = this.calls.describeMisuse()
    if (sentences.length === 0) return
    if (this.#isStrict) throw new Error(['The doubles of this test are strict:', ...sentences].join('\n  '))
    for (const sentence of sentences) this.#logger.warn(sentence)
  }

  #onWorkerCall(call: StoreCall, args: readonly unknown[], outcome: unknown): void {
    this.signsOfLife++
    if (call !== 'log.commit') return
    const units = args[1] as readonly Unit[]
    // A commit without events does not count: a crash after it would repeat for every signal to the run.
    const isWritten = (outcome as readonly UnitOutcome[]).some(
      (one, index) => one.outcome === 'ok' && units[index]?.events.length !== 0,
    )
    if (isWritten && this.#crashesAlways) void this.replaceWorker(false)
  }

  #onClientCall(call: StoreCall): void {
    if (!writes.includes(call)) return
    this.signsOfLife++
    if (!this.#crashesAlways) return
    // A step body that starts or signals a run is killed once: killed at each attempt, it would never finish.
    const body = currentBody()?.describe
    if (body !== undefined && this.#killed.has(body)) return
    if (body !== undefined) this.#killed.add(body)
    void this.replaceWorker(false)
  }

  /** Delegates to the current worker, so that the client survives replacements. */
  #localWorker(): LocalWorker {
    return {
      claimant: () => this.#life.worker.local.claimant(),
      knows: (procedure, version) => this.#life.worker.local.knows(procedure, version),
      signalsOf: (procedure, version) => this.#life.worker.local.signalsOf(procedure, version),
      checkOf: (run, position) => this.#life.worker.local.checkOf(run, position),
      holds: (run) => this.#life.worker.local.holds(run),
      outputOf: (run) => this.#life.worker.local.outputOf(run),
      onCreated: (run) => this.#life.worker.local.onCreated(run),
      onClaimed: (...args) => this.#life.worker.local.onClaimed(...args),
      onMail: (run, message) => this.#life.worker.local.onMail(run, message),
      onRestarted: (run) => this.#life.worker.local.onRestarted(run),
      onRemoved: (run) => this.#life.worker.local.onRemoved(run),
      onDue: () => this.#life.worker.local.onDue(),
    }
  }

  // ── virtual time

  get isAtRest(): boolean {
    return this.#clientCalls === 0 && this.#burials === 0 && !this.people.isBusy && this.#life.isAtRest
  }
  get atWork(): readonly object[] {
    return this.#life.bodies.atWork
  }

  async beforeTimePasses(): Promise<void> {
    if (this.#fault !== null) throw this.#fault.error
    await this.people.look()
  }

  async describeWaiting(): Promise<string> {
    const { items } = await this.client.list({
      status: ['waiting', 'running', 'stuck', 'quarantined'],
      limit: 5,
    })
    return items
      .map(({ id, status, failure, waitingFor }) =>
        status === 'stuck' || status === 'quarantined'
          ? `Run "${id}" is ${status}: ${failure?.message}`
          : `Run "${id}" waits for ${waitingFor.map(({ kind, name }) => `${kind} "${name}"`).join(', ')}.`,
      )
      .join('\n')
  }

  /** Makes a client call. Time does not pass during it. */
  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#clientCalls++
    this.signsOfLife++
    try {
      return await call()
    } finally {
      this.#clientCalls--
    }
  }
}
