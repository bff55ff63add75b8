import type { Client, Logger } from '@pawl/core'
import {
  consoleLogger,
  createConnectedClient,
  currentBody,
  type EngineSettings,
  installGuard,
  installShield,
  type LocalWorker,
  Notifier,
  sha256,
} from '@pawl/core/internal'
import type { StorePort, Unit, UnitOutcome } from '@pawl/core/storage'
import { Bodies, Calls, type Doubles } from './doubles.ts'
import type { Memory } from './memory-store.ts'
import { observeStore } from './observed-store.ts'
import { People } from './people.ts'
import { ProcessLife } from './process-life.ts'
import { createSeededEntropy } from './seeded-entropy.ts'
import type { Participant, VirtualTime } from './virtual-time.ts'

const quietLogger: Logger = { ...consoleLogger, info: () => {} }

/** What a client writes; what it only reads moves nothing. */
const writes = ['create', 'send', 'answer']

/** A lease no jump of time outruns. */
const unendingMs = 1_000 * 365 * 24 * 60 * 60 * 1_000

export interface RigOptions {
  readonly settings: EngineSettings
  readonly memory: Memory
  readonly time: VirtualTime
  readonly doubles: Doubles
  readonly replay: 'always' | 'on-crash'
  readonly seed: number
}

/** A client, and beside it one life of the worker after the other, all on one store and one virtual time. */
export class TestHarness implements Participant {
  readonly time: VirtualTime
  readonly client: Client
  readonly people: People
  readonly calls: Calls
  readonly #notifier = new Notifier()
  readonly #isStrict: boolean
  readonly #logger: Logger
  readonly #newLife: () => ProcessLife
  readonly #connection: StorePort
  readonly #determinism: EngineSettings['determinism']
  readonly #undo: (() => void)[] = []
  #life: ProcessLife
  #crashesAlways = false
  /** Step bodies that were killed in the middle, because of what they wrote. */
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
    const settings = { ...given, leaseMs: unendingMs, logger: this.#logger }
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
        onCall: (method, args, outcome) => this.#onWorkerCall(method, args, outcome),
      })
      return life
    }
    this.#life = this.#newLife()
    this.#connection = memory.connect(this)
    this.client = createConnectedClient({
      store: observeStore(this.#connection, {
        isGone: () => false,
        onCall: (method) => this.#onClientCall(method),
      }),
      ...{ notifier, entropy, sha256, clock: time.clock.see().clock, logger: this.#logger },
      ...{ localWorker: this.#localWorker(), hintsAreSure: true },
    })
    const names = given.procedures.map(({ name }) => name)
    this.people = new People(time.clock, this.client.inbox, memory.asks, names)
    this.#determinism = settings.determinism
  }

  /** Leaves nothing behind where it fails. */
  async start(): Promise<void> {
    try {
      await this.#begin()
    } catch (error) {
      // Whatever else is wrong by then, this was first.
      await this.close().catch(() => {})
      throw error
    }
  }

  async #begin(): Promise<void> {
    this.#undo.push(this.time.join(this))
    this.#undo.push(installShield())
    this.#undo.push(installGuard(this.#determinism))
    await this.#connection.open()
    await this.#life.start()
  }

  // ── the worker and its deaths

  /** `blamed`: the runs in hand count that their worker died. */
  async replaceWorker(blamed: boolean): Promise<void> {
    const dead = this.#life
    dead.end()
    this.#life = this.#newLife()
    this.#burials++
    try {
      await dead.dispose(blamed)
      await this.#life.start()
      // What the dead one had written, but not told any more.
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
      await this.#life.worker.stop(withinMs)
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    for (const undo of this.#undo.splice(0)) undo()
    this.#crashesAlways = false
    this.#life.end()
    await this.client.stop()
    await this.#life.dispose(false)
    await this.#connection.close()
  }

  /** Reports doubles and bodies that do not go together. @throws Error if the doubles are strict */
  checkDoubles(): void {
    const sentences = this.calls.describeMisuse()
    if (sentences.length === 0) return
    if (this.#isStrict) throw new Error(['The doubles of this test are strict:', ...sentences].join('\n  '))
    for (const sentence of sentences) this.#logger.warn(sentence)
  }

  #onWorkerCall(method: string, args: readonly unknown[], outcome: unknown): void {
    this.signsOfLife++
    if (method !== 'commit') return
    const units = args[1] as readonly Unit[]
    // Not of a run that was only looked at: whoever signals it would die of that each time.
    const isWritten = (outcome as readonly UnitOutcome[]).some(
      (one, index) => one.outcome === 'ok' && units[index]?.events.length !== 0,
    )
    if (isWritten && this.#crashesAlways) void this.replaceWorker(false)
  }

  #onClientCall(method: string): void {
    if (!writes.includes(method)) return
    this.signsOfLife++
    if (!this.#crashesAlways) return
    // The body of a step that starts a run or signals one dies of it once: killed whenever it does it never ended.
    const body = currentBody()?.describe
    if (body !== undefined && this.#killed.has(body)) return
    if (body !== undefined) this.#killed.add(body)
    void this.replaceWorker(false)
  }

  /** The worker of the moment, as the client beside it sees it. */
  #localWorker(): LocalWorker {
    return {
      claimant: () => this.#life.worker.local.claimant(),
      knows: (procedure, version) => this.#life.worker.local.knows(procedure, version),
      signalsOf: (procedure, version) => this.#life.worker.local.signalsOf(procedure, version),
      checkOf: (run, position) => this.#life.worker.local.checkOf(run, position),
      holds: (run) => this.#life.worker.local.holds(run),
      outputOf: (run) => this.#life.worker.local.outputOf(run),
      onCreated: (run) => this.#life.worker.local.onCreated(run),
      onClaimed: (claimed, message) => this.#life.worker.local.onClaimed(claimed, message),
      onMail: (run, message) => this.#life.worker.local.onMail(run, message),
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

  /** While the client is at something, time does not pass. */
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
