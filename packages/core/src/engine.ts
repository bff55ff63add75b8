import type { Duration } from './base/duration.ts'
import type { Sha256 } from './base/hash.ts'
import { Notifier } from './base/notifier.ts'
import { type Checker, createChecker } from './check.ts'
import { checkObject, refuse } from './checks/options.ts'
import { anything, optional, readOptions, type Spec } from './checks/spec.ts'
import { createConnectedClient } from './client/client.ts'
import type { EngineOptions } from './client/engine-options.ts'
import { readStoreHealth } from './client/internal.ts'
import type { EngineSettings } from './client/options.ts'
import { readEngineOptions, readObserver, readStopOptions } from './client/options.ts'
import { Plugins } from './client/plugins/plugins.ts'
import type { CheckFilter, Client, ClientOptions, Engine } from './client/types.ts'
import { PawlError } from './errors/pawl-error.ts'
import { systemClock } from './host/clock.ts'
import { consoleLogger } from './host/console-logger.ts'
import { systemEntropy } from './host/entropy.ts'
import { installGuard } from './host/guard/guard.ts'
import { guardVerbs } from './host/guard/verbs.ts'
import { outsideTurn } from './host/outside-turn.ts'
import { describeProcess } from './host/process/name.ts'
import { makeSafe } from './host/safe-observer.ts'
import { sha256 } from './host/sha256.ts'
import { installShield } from './host/shield.ts'
import { startWatchdog } from './host/watchdog/watchdog.ts'
import type { Clock } from './ports/clock.ts'
import { concernOf } from './ports/concerns.ts'
import { connectTo, type Store } from './ports/connect.ts'
import { type Effects, ownEffects } from './ports/effects.ts'
import type { Entropy } from './ports/entropy.ts'
import type { StorePort } from './ports/store/store.ts'
import type { RunCheck } from './runs/run-check.ts'
import { Worker, type WorkerOptions } from './worker/worker.ts'

/** The default limits for parked continuations: their number, and the payload bytes they received. */
export const keptByDefault: WorkerOptions['keep'] = { runs: 1_000, bytes: 64 * 1024 * 1024 }

/** Every source of nondeterminism of an engine, so that tests and simulations can replace it. */
export interface EnginePorts {
  readonly clock: Clock
  readonly entropy: Entropy
  readonly effects: Effects
  readonly sha256: Sha256
}
export const systemPorts: EnginePorts = {
  clock: systemClock,
  entropy: systemEntropy,
  effects: ownEffects,
  sha256,
}

/**
 * Starts an engine: migrates the store, resumes unfinished runs, and executes runs until `stop()`.
 * @throws PawlError 'store-unusable' with what to do, 'option-invalid', 'procedure-duplicate'
 * @example
 * const engine = await createEngine({ store: sqlite('pawl.db'), procedures: [refund] })
 * const run = await engine.run(refund, { orderId: 'A-1', amount: 45 }, { id: 'refund:A-1' })
 * console.log(await run.result())
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const settings = readEngineOptions(options)
  const { client, worker, plugins, check, close } = await startEngine(
    settings,
    connect(options.store, 'createEngine'),
    systemPorts,
  )
  let stopped: Promise<void> | null = null
  const stopWorker = async (withinMs: number): Promise<void> => {
    try {
      await plugins.stop()
      await worker.stop(withinMs)
    } finally {
      await close()
    }
  }
  const own = guardVerbs('engine', {
    check: async (what?: CheckFilter) => {
      if (stopped !== null) throw new PawlError('engine-stopped', {})
      return check(what)
    },
    stop: async (given?: { readonly within?: Duration }) => {
      const withinMs = readStopOptions(given)
      stopped ??= stopWorker(withinMs)
      await stopped
    },
  })
  return { ...client, ...own }
}

const clientOptions = {
  store: optional(anything),
  observe: optional(readObserver),
} satisfies Spec<ClientOptions>

/**
 * Creates a client, which does not execute runs. It connects to the store, and migrates it if needed, on first use. Create
 * one per process.
 * @example
 * const client = createClient({ store: sqlite('pawl.db') })
 * const { items } = await client.inbox.list({ to: 'group:ops' })
 */
export function createClient(options: ClientOptions): Client {
  const given = checkObject('options of createClient', options)
  const { store: chosen, observe } = readOptions('of createClient', given, clientOptions, 'createClient')
  const store = connect(chosen as Store, 'createClient')
  const logger = outsideTurn(consoleLogger)
  return createConnectedClient({
    store,
    notifier: new Notifier(),
    logger,
    observer: observe === undefined ? undefined : makeSafe(observe, logger),
    localWorker: undefined,
    ...systemPorts,
  })
}

/**
 * Checks stored runs as `engine.check` does, without an engine: before a deploy, nothing is executed and no run gets stuck.
 * Migrates the store if needed. Takes the options of `createEngine`, of which those about work have no effect.
 * @throws PawlError 'store-unusable', 'option-invalid', 'procedure-duplicate', 'run-not-found'
 * @example
 * const checks = await checkRuns({ store: sqlite('pawl.db'), procedures: [refund] })
 * const broken = checks.filter(({ verdict }) => verdict === 'diverges' || verdict === 'broken')
 */
export async function checkRuns(options: EngineOptions, what?: CheckFilter): Promise<readonly RunCheck[]> {
  const settings = readEngineOptions(options)
  const store = connect(options.store, 'checkRuns')
  const logger = outsideTurn(settings.logger ?? consoleLogger)
  const uninstall = [installShield(), installGuard(settings.determinism)]
  try {
    await store.open()
    return await createChecker({ settings, logger, sha256, store })(what)
  } finally {
    for (const undo of uninstall) undo()
    await store.close()
  }
}

interface Started {
  readonly client: Client
  readonly worker: Worker
  readonly plugins: Plugins
  readonly check: Checker
  readonly close: () => Promise<void>
}

/** Starts the plug-ins, a worker and a client on one connection. */
async function startEngine(settings: EngineSettings, store: StorePort, ports: EnginePorts): Promise<Started> {
  const notifier = new Notifier()
  const logger = outsideTurn(settings.logger ?? consoleLogger)
  const observer = settings.observer === undefined ? undefined : makeSafe(settings.observer, logger)
  const worker = new Worker({
    ...settings,
    observer,
    ...ports,
    store,
    notifier,
    logger,
    name: describeProcess(),
    keep: keptByDefault,
    replay: 'when-needed',
  })
  const client = createConnectedClient({
    ...{ store, notifier, logger, observer, ...ports },
    localWorker: worker.local,
    selfApproval: settings.selfApproval,
  })
  const plugins = new Plugins(settings.plugins, { client, logger, clock: ports.clock })
  const check = createChecker({ settings, logger, sha256: ports.sha256, store })
  const uninstall = [
    installShield(),
    installGuard(settings.determinism),
    startWatchdog({
      onHeld: (held) => logger.warn('a turn or a step body blocked the event loop', held),
      onUnavailable: (error) =>
        logger.warn('blocked turns and steps are not reported: the watchdog thread could not be started', {
          error,
        }),
    }),
  ]
  const close = async (): Promise<void> => {
    for (const undo of uninstall.splice(0)) undo()
    await client.stop()
    await store.close()
  }
  try {
    await store.open(true)
    if (settings.retention.size > 0) concernOf(store, 'removals')
    await plugins.start()
    await worker.start()
    if (observer !== undefined)
      uninstall.push(observer.attached({ readHealth: () => readStoreHealth(client) }))
  } catch (error) {
    await plugins.stop()
    worker.kill()
    await close()
    throw error
  }
  return { client, worker, plugins, check, close }
}

function connect(store: Store, of: string): StorePort {
  return (
    connectTo(store) ??
    refuse(`store of ${of}`, store, 'It must be created by sqlite(), postgres() or memory().')
  )
}
