import type { Client, Engine, EngineOptions } from '@pawl/core'
import { type Located, locate, type Places } from './config/find.ts'
import { loadProcedures } from './config/procedures.ts'
import { describeStore, refuseMissing, toStore } from './config/store.ts'
import type { Door } from './door/door.ts'
import { openRemote } from './door/remote.ts'
import { EngineLog } from './output/engine-log.ts'
import { createOut, type Out, type Streams } from './output/out.ts'

/** Flags of every command. */
export interface CommonFlags extends Omit<Places, 'procedures'> {
  readonly procedures?: readonly string[]
  readonly json?: boolean
}

/** The environment of a command. Tests pass their own. */
export interface Surroundings extends Streams {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal
}

/** The resources of a command. Each is opened on first use, and closed by `close`. */
export interface Context {
  readonly surroundings: Surroundings
  readonly out: Out
  /** Writes the lines of the engine in this process, if the command has one. */
  readonly engineLog: EngineLog
  readonly signal: AbortSignal
  located(): Promise<Located>
  /** Opens the server if one is named, else the store. @throws CommandError with status 7 if there is no store and `creates` is not set */
  door(options?: { readonly creates?: boolean }): Promise<Door>
  /** Opens the store with an engine that executes runs. */
  working(
    options?: EngineFlags,
  ): Promise<{ readonly names: readonly string[]; readonly engine: Engine; readonly door: Door }>
  /**
   * Opens the store for a server. An engine sends webhooks if the config has any.
   * @param address of the store. Default: the one that was located
   */
  client(address?: string): Promise<Client>
  /** The options of an engine with the procedures that were found. */
  engineOptions(flags?: EngineFlags): Promise<EngineOptions>
  close(): Promise<void>
}

export interface EngineFlags {
  readonly concurrency?: number | undefined
}

export function createContext(flags: CommonFlags, surroundings: Surroundings): Context {
  const out = createOut(surroundings, flags.json ?? false, surroundings.env)
  const engineLog = new EngineLog(out)
  const closers: (() => Promise<void>)[] = []
  let places: Promise<Located> | undefined
  const located = (): Promise<Located> => {
    places ??= locate(flags, surroundings.cwd, surroundings.env)
    return places
  }
  const engineOptions = async ({ concurrency }: EngineFlags = {}): Promise<EngineOptions> => {
    const { store, procedures, config } = await located()
    return {
      ...config?.value.engine,
      ...(concurrency === undefined ? {} : { concurrency }),
      store: await toStore(store.value),
      procedures: await loadProcedures(procedures.value),
      logger: config?.value.engine?.logger ?? engineLog,
    }
  }
  const keep = (door: Door): Door => {
    closers.push(() => door.close())
    return door
  }
  /** Opens a store through a server in this process. */
  const openStore = async (
    store: string,
    client: Client,
    procedures?: EngineOptions['procedures'],
  ): Promise<Door> => {
    const { openLocal } = await import('./door/local.ts')
    return keep(openLocal(store, client, engineLog, procedures))
  }
  return {
    surroundings,
    out,
    engineLog,
    signal: surroundings.signal,
    located,
    async door({ creates = false } = {}) {
      const { server, store, token } = await located()
      if (server !== undefined) return keep(openRemote(server.value, token))
      if (!creates) refuseMissing(store, surroundings.cwd)
      const { createClient } = await import('@pawl/core')
      return openStore(describeStore(store.value), createClient({ store: await toStore(store.value) }))
    },
    async working(engineFlags) {
      const { store } = await located()
      const options = await engineOptions(engineFlags)
      const { createEngine } = await import('@pawl/core')
      const engine = await createEngine(options)
      const names = options.procedures.map(({ name }) => name)
      const door = await openStore(describeStore(store.value), engine, options.procedures)
      return { names, engine, door }
    },
    engineOptions,
    async client(address) {
      const { store: found, config } = await located()
      const store = await toStore(address ?? found.value)
      const { createClient, createEngine } = await import('@pawl/core')
      const hooks = config?.value.server?.hooks
      // An engine starts no run of a procedure that it does not have.
      const client = createClient({ store })
      closers.push(() => client.stop())
      if (hooks !== undefined) {
        const engine = await createEngine({ store, procedures: [], plugins: [hooks], logger: engineLog })
        closers.push(() => engine.stop())
      }
      return client
    },
    async close() {
      try {
        for (const close of closers.reverse()) await close()
      } finally {
        engineLog.release()
      }
    },
  }
}
