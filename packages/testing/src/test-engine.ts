/// <reference lib="esnext.disposable" preserve="true" />
import {
  type Client,
  type Duration,
  type Engine,
  type EngineOptions,
  type Logger,
  PawlError,
  type Store,
} from '@pawl/core'
import {
  Bell,
  checkArray,
  checkEngineKeys,
  checkInstant,
  checkObject,
  checkOneOf,
  consoleLogger,
  createConnectedClient,
  type EngineSettings,
  type Home,
  installGuard,
  installShield,
  parseDuration,
  readEngineOptions,
  readStopOptions,
  refuse,
  sha256,
} from '@pawl/core/internal'
import { connectTo, type StorePort, type Unit, type UnitOutcome } from '@pawl/core/storage'
import { Bodies, Calls, type Doubles } from './doubles.ts'
import { memory, virtualTimeOf } from './memory-store.ts'
import { observeStore } from './observed-store.ts'
import { People, type Person } from './people.ts'
import { ProcessLife } from './process-life.ts'
import { createSeededEntropy } from './seeded-entropy.ts'
import type { Dweller, VirtualTime } from './virtual-time.ts'

export interface TestEngine extends Engine {
  /** Adds people. The first that matches answers. */
  humans(...people: readonly Person[]): void
  /** Lets virtual time pass: timers, deadlines and people fire in order. */
  advance(time: Duration): Promise<void>
  /** Kills the worker without warning and starts another. `'every'`: after every commit from now on. Default 'now'. */
  crash(when?: 'now' | 'every'): Promise<void>
  /** How often the body of each step and agent ran, by name. */
  readonly calls: { readonly [step: string]: number }
}

export type TestEngineOptions = Partial<Omit<EngineOptions, 'procedures'>> &
  Pick<EngineOptions, 'procedures'> &
  Doubles & {
    readonly humans?: readonly Person[]
    /** The time it begins at, for the first engine on its store. Default 2026-01-01T00:00:00Z. */
    readonly now?: Date
    /** 'always': replays from the start on every event. Default 'on-crash'. */
    readonly replay?: 'always' | 'on-crash'
    /** Of ids, uuids, chance and jitter: the same seed, the same run. Default 1. */
    readonly seed?: number
  }

/**
 * An engine on virtual time. Time passes only during `advance`, and while somebody waits for a `result()`,
 * `inbox.next()` or `stop()`: then it skips what nobody needs, so that a 30-day wait takes a millisecond. It
 * never passes while anything is at work, nor while an ask is open that nobody answers (the wait then fails
 * and says so); a body without a sign of life for a second of real time is taken to wait for virtual time.
 * Leases do not run out. Engines on one `memory()` share its time.
 * @throws PawlError as createEngine does
 * @example
 * await using engine = await testEngine({ procedures: [refund], humans: [{ ask: 'Refund', answer: { approved: true } }] })
 */
export async function testEngine(options: TestEngineOptions): Promise<TestEngine & AsyncDisposable> {
  checkEngineKeys('testEngine', options, ['steps', 'agents', 'humans', 'now', 'replay', 'seed'])
  const {
    steps,
    agents,
    humans = [],
    now,
    replay = 'on-crash',
    seed = 1,
    store = memory(),
    ...rest
  } = options
  checkObject('steps of testEngine', steps)
  checkObject('agents of testEngine', agents)
  checkArray('humans of testEngine', humans)
  checkOneOf('replay of testEngine', replay, ['always', 'on-crash'])
  if (!Number.isFinite(seed)) refuse('seed of testEngine', seed, 'It must be a number.')
  const settings = readEngineOptions(rest)
  const startsAt = checkInstant('now of testEngine', now ?? new Date('2026-01-01T00:00:00Z'))
  const time =
    virtualTimeOf(store, startsAt.getTime()) ??
    refuse(
      'store of testEngine',
      store,
      'It must be made by memory(): the clock of another store cannot skip time.',
    )
  const doubles = { ...(steps === undefined ? {} : { steps }), ...(agents === undefined ? {} : { agents }) }
  const bench = new Bench({ settings, store, time, doubles, replay, seed })
  bench.people.add(humans)
  await bench.start()
  return createFacade(bench)
}

/** What a client writes; what it only reads moves nothing. */
const writes = ['create', 'send', 'answer']

/** A lease no jump of time outruns. */
const unendingMs = 1_000 * 365 * 24 * 60 * 60 * 1_000

interface BenchOptions {
  readonly settings: EngineSettings
  readonly store: Store
  readonly time: VirtualTime
  readonly doubles: Doubles
  readonly replay: 'always' | 'on-crash'
  readonly seed: number
}

/** A client, and beside it one life of the worker after the other, all on one store and one virtual time. */
class Bench implements Dweller {
  readonly time: VirtualTime
  readonly client: Client
  readonly people: People
  readonly calls = new Calls()
  readonly #bell = new Bell()
  readonly #newLife: () => ProcessLife
  readonly #connection: StorePort
  readonly #undo: (() => void)[]
  #life: ProcessLife
  #crashesAlways = false
  #clientCalls = 0
  #burials = 0
  #fault: { readonly error: unknown } | null = null
  signsOfLife = 0

  constructor({ settings: given, store, time, doubles, replay, seed }: BenchOptions) {
    this.time = time
    const entropy = createSeededEntropy(seed, time.dwellersSoFar)
    const bell = this.#bell
    const settings = { ...given, leaseMs: unendingMs, logger: given.logger ?? quietLogger }
    this.#newLife = () => {
      const bodies = new Bodies(doubles, this.calls, () => this.signsOfLife++)
      const life: ProcessLife = new ProcessLife({
        ...{
          settings,
          store: connectTo(store) as StorePort,
          clock: time.clock,
          entropy,
          bodies,
          bell,
          replay,
        },
        onCall: (method, args, outcome) => this.#onWorkerCall(method, args, outcome),
      })
      return life
    }
    this.#life = this.#newLife()
    this.#connection = connectTo(store) as StorePort
    this.client = createConnectedClient({
      store: observeStore(this.#connection, {
        isGone: () => false,
        onCall: (method) => this.#onClientCall(method),
      }),
      ...{ bell, entropy, sha256, clock: time.clock.see().clock, home: this.#home() },
    })
    this.people = new People(time.clock, this.client.inbox)
    this.#undo = [time.join(this), installShield(), installGuard(settings.determinism)]
  }

  async start(): Promise<void> {
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
      await dead.bury(blamed)
      await this.#life.start()
      // What the dead one had written, but not told any more.
      this.#bell.ringAll()
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
    await this.#life.bury(false)
    await this.#connection.close()
  }

  #onWorkerCall(method: string, args: readonly unknown[], outcome: unknown): void {
    this.signsOfLife++
    if (method !== 'commit') return
    if ((args[1] as readonly Unit[]).some(({ opens }) => opens.length > 0)) this.people.notice()
    const isWritten = (outcome as readonly UnitOutcome[]).some((one) => one.outcome === 'ok')
    if (isWritten && this.#crashesAlways) void this.replaceWorker(false)
  }

  #onClientCall(method: string): void {
    if (!writes.includes(method)) return
    this.signsOfLife++
    if (this.#crashesAlways) void this.replaceWorker(false)
  }

  /** The worker of the moment, as the client beside it sees it. */
  #home(): Home {
    return {
      claimant: () => this.#life.worker.claimant(),
      knows: (procedure, version) => this.#life.worker.knows(procedure, version),
      checkOf: (run, position) => this.#life.worker.checkOf(run, position),
      holds: (run) => this.#life.worker.holds(run),
      outputOf: (run) => this.#life.worker.outputOf(run),
      onCreated: (run) => this.#life.worker.onCreated(run),
      onClaimed: (claimed, message) => this.#life.worker.onClaimed(claimed, message),
      onMail: (run, message) => this.#life.worker.onMail(run, message),
      onHint: () => this.#life.worker.onHint(),
    }
  }

  // ── virtual time

  get isAtRest(): boolean {
    return this.#clientCalls === 0 && this.#burials === 0 && !this.people.isBusy && this.#life.isAtRest
  }
  get atWork(): readonly string[] {
    return this.#life.bodies.atWork
  }

  async beforeTimePasses(): Promise<void> {
    if (this.#fault !== null) throw this.#fault.error
    await this.people.look()
  }

  async describeWaiting(): Promise<string> {
    const { items } = await this.client.list({ status: ['waiting', 'running'], limit: 5 })
    return items
      .map(
        ({ id, waitingFor }) =>
          `Run "${id}" waits for ${waitingFor.map(({ kind, name }) => `${kind} "${name}"`).join(', ')}.`,
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

const quietLogger: Logger = { ...consoleLogger, info: () => {} }

/** What a test holds in its hands: the client's verbs, some of which let time pass. */
function createFacade(bench: Bench): TestEngine & AsyncDisposable {
  const { client, time } = bench
  type AnyHandle = ReturnType<typeof client.get>
  /** What comes of a wait counts only if everybody kept to the script. */
  const checked = async <Result>(wait: Promise<Result>): Promise<Result> => {
    const result = await wait
    bench.people.check()
    return result
  }
  const handle = (inner: AnyHandle): AnyHandle => ({
    id: inner.id,
    result: (options) => checked(time.skipFor(inner.result(options))),
    status: () => inner.status(),
    signal: (...args) =>
      bench.during(() => (inner.signal as (...args: readonly unknown[]) => Promise<void>)(...args)),
  })
  let stopped: Promise<void> | null = null
  const inbox: Client['inbox'] = {
    list: (filter) => client.inbox.list(filter),
    get: (ask) => client.inbox.get(ask),
    next: (filter) => checked(time.skipFor(client.inbox.next(filter))),
    answer: (ask, answer, as) => bench.during(() => client.inbox.answer(ask, answer, as)),
  }
  const facade = {
    run: async (...args: Parameters<Client['run']>) =>
      handle((await bench.during(() => client.run(...args))) as AnyHandle),
    runOrGet: async (...args: Parameters<Client['runOrGet']>) =>
      handle((await bench.during(() => client.runOrGet(...args))) as AnyHandle),
    get: (...args: Parameters<Client['get']>) => handle(client.get(...args) as AnyHandle),
    list: client.list,
    log: client.log,
    inbox,
    stop: (given?: Parameters<Engine['stop']>[0]) => {
      const withinMs = readStopOptions(given)
      stopped ??= time.skipFor(bench.stop(withinMs)).then(() => bench.people.checkLast())
      return stopped
    },
    humans: (...people: readonly Person[]) => bench.people.add(people),
    advance: async (duration: Duration) => checked(time.pass(parseDuration(duration, 'time of advance'))),
    crash: async (when: 'now' | 'every' = 'now') => {
      if (stopped !== null) throw new PawlError('engine-stopped', {})
      return when === 'every' ? bench.crashAlways() : bench.replaceWorker(true)
    },
    get calls() {
      return bench.calls.toObject()
    },
    [Symbol.asyncDispose]: async () => {
      stopped ??= bench.close().then(() => bench.people.checkLast())
      await stopped
    },
  }
  return facade as unknown as TestEngine & AsyncDisposable
}
