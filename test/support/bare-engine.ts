import type { Client, Logger, Procedure, Store } from '@pawl/core'
import { createConnectedClient, Notifier, readEngineOptions, systemPorts, Worker } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'

/** An engine put together by hand, for what `createEngine` does not let anybody set. */
export async function startBareEngine(options: {
  readonly store: Store
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures: readonly Procedure<any, any, any>[]
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly slices?: { readonly begun: number; readonly drafts: number }
  readonly logger: Logger
}): Promise<{ readonly client: Client; readonly worker: Worker; readonly stop: () => Promise<void> }> {
  const { keep, slices, logger, procedures } = options
  const store = connectTo(options.store) as StorePort
  const notifier = new Notifier()
  const settings = {
    ...readEngineOptions({ procedures }),
    ...{ logger, keep, replay: 'when-needed' as const },
    ...(slices === undefined ? {} : { slices }),
  }
  const worker = new Worker({ ...settings, ...systemPorts, store, notifier, name: 'bare' })
  const client = createConnectedClient({ ...systemPorts, store, notifier, logger, localWorker: worker.local })
  await store.open()
  await worker.start()
  const stop = async (): Promise<void> => {
    await worker.stop(1_000)
    await client.stop()
    await store.close()
  }
  return { client, worker, stop }
}
