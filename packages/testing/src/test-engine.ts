/// <reference lib="esnext.disposable" preserve="true" />
import {
  type Client,
  type Duration,
  type Engine,
  type EngineOptions,
  type Logger,
  PawlError,
} from '@pawl/core'
import {
  checkArray,
  checkEngineKeys,
  checkInstant,
  checkObject,
  checkOneOf,
  guardVerbs,
  implement,
  parseDuration,
  readEngineOptions,
  readStopOptions,
  refuse,
} from '@pawl/core/internal'
import { checkBoolean } from '@pawl/core/storage'
import type { Doubles } from './doubles.ts'
import { memory, memoryOf } from './memory-store.ts'
import type { Person } from './people.ts'
import { TestHarness } from './test-harness.ts'

/** An engine on virtual time, with the controls of a test. Returned by `testEngine`. */
export interface TestEngine extends Engine {
  /**
   * Adds people. The first person who matches an ask answers it.
   * @throws PawlError 'option-invalid', 'duration-invalid'
   */
  humans(...people: readonly Person[]): void
  /**
   * Advances virtual time. Timers, deadlines and people act in order.
   * @throws PawlError 'duration-invalid', 'engine-stopped'
   * @throws Error if no person matches an open ask
   * @example
   * await engine.advance('30d')
   */
  advance(time: Duration): Promise<void>
  /**
   * Crashes the worker and starts another: 'now' crashes it once, 'every' after each commit from now on. Default: 'now'.
   * @throws PawlError 'option-invalid', 'engine-stopped'
   */
  crash(when?: 'now' | 'every'): Promise<void>
  /** Number of calls to the body of each step and agent, by name. Calls of doubles count. */
  readonly calls: { readonly [step: string]: number }
}

/** Options of `testEngine`: the options of `createEngine`, doubles, and settings of the test. */
export type TestEngineOptions = Omit<EngineOptions, 'store' | 'lease' | 'logger'> & Doubles & TestSettings

interface TestSettings {
  /** Store that keeps the runs. Range: a `memory()`, because other stores cannot skip time. Default: a new `memory()`. */
  readonly store?: EngineOptions['store']
  /** Has no effect, because leases do not expire on virtual time. Default: '10s'. Range: at least '1s'. */
  readonly lease?: Duration
  /** Receives log lines. Default: the console, for `warn` and `error`. */
  readonly logger?: Logger
  /** People who answer asks. Default: none. */
  readonly humans?: readonly Person[]
  /** Virtual time at the start. Only the first engine on a store sets it. Default: 2026-01-01T00:00:00Z. */
  readonly now?: Date
  /** When a run is replayed from its start: 'always' (before every event) or 'on-crash'. Default: 'on-crash'. */
  readonly replay?: 'always' | 'on-crash'
  /** Seed of ids, UUIDs, random numbers and jitter. The same seed gives the same run. Default: 1. */
  readonly seed?: number
}

/**
 * Starts an engine on virtual time.
 *
 * - Time passes during `advance`, and while the test waits for `result()`, `inbox.next()` or `stop()`. These waits skip
 *   idle time: a wait of 30 days takes a millisecond.
 * - Time stops while a body runs. A body without activity for one second of real time counts as waiting for virtual time.
 * - If no person matches an open ask, the wait rejects.
 * - Leases do not expire. Engines on the same `memory()` share its time.
 * @throws PawlError the errors of `createEngine`
 * @example
 * await using engine = await testEngine({
 *   procedures: [refund],
 *   steps: { 'load order': { card: 'visa' }, refund: undefined },
 *   strict: true,
 *   humans: [{ ask: 'Refund', answer: { approved: true } }],
 * })
 */
export async function testEngine(options: TestEngineOptions): Promise<TestEngine & AsyncDisposable> {
  // Missing options are reported by `readEngineOptions` below.
  checkEngineKeys('testEngine', options ?? {}, [
    'steps',
    'agents',
    'strict',
    'humans',
    'now',
    'replay',
    'seed',
  ])
  const {
    steps,
    agents,
    strict = false,
    humans = [],
    now,
    replay = 'on-crash',
    seed = 1,
    store = memory(),
    ...rest
  } = options ?? {}
  checkObject('steps of testEngine', steps)
  checkObject('agents of testEngine', agents)
  checkBoolean('strict of testEngine', strict)
  checkArray('humans of testEngine', humans)
  checkOneOf('replay of testEngine', replay, ['always', 'on-crash'])
  if (!Number.isFinite(seed)) refuse('seed of testEngine', seed, 'It must be a number.')
  const settings = readEngineOptions(rest)
  const startsAt = checkInstant('now of testEngine', now ?? new Date('2026-01-01T00:00:00Z'))
  const kept =
    memoryOf(store) ??
    refuse('store of testEngine', store, 'It must be made by `memory()`: other stores cannot skip time.')
  const doubles = {
    ...(steps === undefined ? {} : { steps }),
    ...(agents === undefined ? {} : { agents }),
    strict,
  }
  const harness = new TestHarness({
    settings,
    memory: kept,
    time: kept.virtualTime(startsAt.getTime()),
    doubles,
    replay,
    seed,
  })
  harness.people.add(humans)
  await harness.start()
  return createFacade(harness)
}

/** Wraps the client's verbs for a test. Some of them advance virtual time. */
function createFacade(harness: TestHarness): TestEngine & AsyncDisposable {
  const { client, time } = harness
  type AnyHandle = ReturnType<typeof client.get>
  /** Returns the result of a wait, unless a scripted person gave an invalid answer. */
  const checked = async <Result>(wait: Promise<Result>): Promise<Result> => {
    const result = await wait
    harness.people.check()
    return result
  }
  // `harness.during` is guarded too, but these methods must reject in the call itself, as those of an engine do.
  const handle = (inner: AnyHandle): AnyHandle =>
    guardVerbs('run', {
      id: inner.id,
      result: (options) => checked(time.skipFor(inner.result(options))),
      status: inner.status,
      cancel: (...args) => harness.during(() => inner.cancel(...args)),
      state: (...args: readonly unknown[]) =>
        checked(time.skipFor((inner.state as (...args: readonly unknown[]) => Promise<unknown>)(...args))),
      update: (...args) => checked(time.skipFor(inner.update(...args))),
      signal: (...args) =>
        harness.during(() => (inner.signal as (...args: readonly unknown[]) => Promise<void>)(...args)),
    } satisfies AnyHandle)
  const checkScript = (): void => {
    harness.people.checkLast()
    harness.checkDoubles()
  }
  let stopped: Promise<void> | null = null
  const checkUsable = (): void => {
    if (stopped !== null) throw new PawlError('engine-stopped', {})
  }
  const inbox: Client['inbox'] = guardVerbs('engine.inbox', {
    list: (filter) => client.inbox.list(filter),
    count: (filter) => client.inbox.count(filter),
    get: (ask) => client.inbox.get(ask),
    next: (filter) => checked(time.skipFor(client.inbox.next(filter))),
    notices: (filter) => client.inbox.notices(filter),
    readNotices: (notices, by) => client.inbox.readNotices(notices, by),
    watch: (options) => client.inbox.watch(options),
    answer: (ask, answer, as) => harness.during(() => client.inbox.answer(ask, answer, as)),
  } satisfies Client['inbox'])
  const facade = implement<TestEngine & AsyncDisposable>({
    run: async (...args: Parameters<Client['run']>) =>
      handle((await harness.during(() => client.run(...args))) as AnyHandle),
    runOrGet: async (...args: Parameters<Client['runOrGet']>) =>
      handle((await harness.during(() => client.runOrGet(...args))) as AnyHandle),
    get: (...args: Parameters<Client['get']>) => handle(client.get(...args) as AnyHandle),
    list: client.list,
    log: client.log,
    check: (what?: Parameters<Engine['check']>[0]) => {
      checkUsable()
      return harness.during(() => harness.check(what))
    },
    retry: (...args: Parameters<Client['retry']>) => harness.during(() => client.retry(...args)),
    previewRetry: client.previewRetry,
    previewFork: client.previewFork,
    delete: (...args: Parameters<Client['delete']>) => harness.during(() => client.delete(...args)),
    fork: async (...args: Parameters<Client['fork']>) =>
      handle((await harness.during(() => client.fork(...args))) as AnyHandle),
    export: (...args: Parameters<Client['export']>) => harness.during(() => client.export(...args)),
    exportStream: client.exportStream,
    import: async (...args: Parameters<Client['import']>) =>
      handle((await harness.during(() => client.import(...args))) as AnyHandle),
    cancel: (...args: Parameters<Client['cancel']>) => harness.during(() => client.cancel(...args)),
    resume: (...args: Parameters<Client['resume']>) => harness.during(() => client.resume(...args)),
    checkpoints: client.checkpoints,
    inbox,
    stop: async (given?: Parameters<Engine['stop']>[0]) => {
      const withinMs = readStopOptions(given)
      stopped ??= time.skipFor(harness.stop(withinMs)).then(checkScript)
      await stopped
    },
    humans: (...people: readonly Person[]) => harness.people.add(people),
    advance: async (duration: Duration) => {
      checkUsable()
      return checked(time.pass(parseDuration(duration, 'time of advance')))
    },
    crash: async (when: 'now' | 'every' = 'now') => {
      checkUsable()
      return checkOneOf('when of crash', when, ['now', 'every']) === 'every'
        ? harness.crashAlways()
        : harness.replaceWorker(true)
    },
    get calls() {
      return harness.calls.toObject()
    },
    [Symbol.asyncDispose]: async () => {
      stopped ??= harness.close().then(checkScript)
      await stopped
    },
  })
  return guardVerbs('engine', facade, ['get', 'humans'])
}
