import type { Client, Logger, Procedure, Store } from '@pawl/core'
import {
  type Clock,
  createConnectedClient,
  Notifier,
  readEngineOptions,
  systemPorts,
  Worker,
} from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'

/** Does not poll and sends no heartbeat: a worker with this clock reacts only to what it is told, and to timers. */
export const withoutPolls: Clock = {
  ...systemPorts.clock,
  after: (ms, callback, background) =>
    background === true ? () => {} : systemPorts.clock.after(ms, callback, background),
}

/** No timer fires either, unless it is due when it is set: a worker with this clock reacts only to what it is told. */
export const withoutTimers: Clock = {
  ...systemPorts.clock,
  after: (ms, callback) => (ms > 0 ? () => {} : systemPorts.clock.after(ms, callback)),
}

/** An engine put together by hand, for what `createEngine` does not let anybody set. */
export async function startBareEngine(options: {
  readonly store: Store
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures: readonly Procedure<any, any, any>[]
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly slices?: { readonly begun: number; readonly drafts: number }
  readonly logger: Logger
  /** Default: the system's. The lease is an hour with any other clock. */
  readonly clock?: Clock
  /** Default: 'when-needed'. */
  readonly replay?: 'when-needed' | 'always'
}): Promise<{ readonly client: Client; readonly worker: Worker; readonly stop: () => Promise<void> }> {
  const { keep, slices, logger, procedures, clock = systemPorts.clock, replay = 'when-needed' } = options
  const store = connectTo(options.store) as StorePort
  const notifier = new Notifier()
  const settings = {
    ...readEngineOptions({ procedures, ...(clock === systemPorts.clock ? {} : { lease: '1h' }) }),
    ...{ logger, keep, replay },
    ...(slices === undefined ? {} : { slices }),
  }
  const ports = { ...systemPorts, clock }
  const worker = new Worker({ ...settings, ...ports, store, notifier, name: 'bare' })
  const client = createConnectedClient({ ...ports, store, notifier, logger, localWorker: worker.local })
  await store.open()
  await worker.start()
  const stop = async (): Promise<void> => {
    await worker.stop(1_000)
    await client.stop()
    await store.close()
  }
  return { client, worker, stop }
}
