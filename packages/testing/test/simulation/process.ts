import type { Client, Logger } from '@pawl/core'
import {
  type Clock,
  createConnectedClient,
  type Effects,
  type EngineSettings,
  type Entropy,
  Notifier,
  sha256,
  Worker,
} from '@pawl/core/internal'
import type { StorePort, WorkerKey } from '@pawl/core/storage'
import type { VirtualClock } from '../../src/virtual-clock.ts'
import type { Caller } from './network.ts'

/** As long as a worker waits before it puts a run aside that may yet move. */
const graceMs = 25

export interface ProcessOptions {
  readonly name: string
  /** Some of its code is. */
  readonly isWrong: boolean
  readonly clock: VirtualClock
  /** How fast its clock goes: 1 as that of the store. */
  readonly pace: number
  readonly entropy: Entropy
  readonly logger: Logger
  /** Null: a client alone. */
  readonly settings: EngineSettings | null
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly replay: 'always' | 'when-needed'
  readonly slices: { readonly begun: number; readonly drafts: number }
  /** A connection to the store, through the network. */
  connect(caller: Caller): StorePort
  /** A body begins in this process. */
  onBody(process: SimulatedProcess): void
}

/** A process that can be killed, stopped and continued. What it does it does through its clock, its store and its bodies. */
export class SimulatedProcess implements Caller {
  readonly name: string
  readonly client: Client
  readonly isWrong: boolean
  readonly hasWorker: boolean
  /** As the store knows its worker. */
  worker: WorkerKey | null = null
  state: 'running' | 'stopped' | 'dead' = 'running'
  /** Its client is in use. */
  isUp = false
  readonly #worker: Worker | null
  readonly #store: StorePort
  readonly #clock: Clock
  readonly #callOffAll: () => void
  /** What happens once it is continued. */
  #held: (() => void)[] = []

  constructor(options: ProcessOptions) {
    const { name, isWrong, clock, pace, entropy, logger, settings, keep, replay, slices } = options
    this.name = name
    this.isWrong = isWrong
    this.hasWorker = settings !== null
    const seen = clock.see()
    this.#callOffAll = seen.callOffAll
    this.#clock = {
      elapsed: () => seen.clock.elapsed() * pace,
      wall: () => Math.round(seen.clock.wall() * pace),
      after: (ms, callback, background) =>
        seen.clock.after(Math.ceil(ms / pace), () => this.#whenRunning(callback), background),
    }
    const notifier = new Notifier()
    const store = options.connect(this)
    this.#store = store
    const ports = { store, clock: this.#clock, entropy, sha256, notifier, logger }
    // Nothing here moves outside a turn in real time, so that simulated time decides.
    const allowGrace = (onOver: () => void): void => void this.#clock.after(graceMs, onOver)
    const onBody = (): void => options.onBody(this)
    this.#worker =
      settings &&
      new Worker({ ...settings, ...ports, name, keep, replay, slices, effects: announce(onBody), allowGrace })
    this.client = createConnectedClient({ ...ports, localWorker: this.#worker?.local })
  }

  async start(): Promise<void> {
    if (this.#worker !== null) {
      await this.#store.open()
      await this.#worker.start()
    }
    this.isUp = true
  }

  /** Nothing is at work, and nothing is being written. */
  get isAtRest(): boolean {
    return this.#worker?.isAtRest ?? true
  }

  /** As SIGKILL. */
  kill(): void {
    this.state = 'dead'
    this.#worker?.kill()
    this.#callOffAll()
    this.#held = []
  }

  /** As SIGSTOP and SIGCONT. */
  freeze(): void {
    if (this.state === 'running') this.state = 'stopped'
  }
  thaw(): void {
    if (this.state !== 'stopped') return
    this.state = 'running'
    for (const go of this.#held.splice(0)) go()
  }

  /** Of its own will. */
  async stop(withinMs: number): Promise<void> {
    await this.#worker?.stop(withinMs)
    await this.client.stop()
    this.state = 'dead'
    this.#callOffAll()
  }

  running(): Promise<void> {
    if (this.state === 'running') return Promise.resolve()
    return new Promise((resolve) => this.#whenRunning(resolve))
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve))
  }

  #whenRunning(go: () => void): void {
    if (this.state === 'running') go()
    else if (this.state === 'stopped') this.#held.push(go)
  }
}

/** Bodies as they are, each announced as it begins. */
function announce(onBegin: () => void): Effects {
  const announced = <Body extends (...args: never[]) => unknown>(_: string, body: Body): Body =>
    ((...args: never[]) => {
      onBegin()
      return body(...args)
    }) as Body
  return { step: announced, agent: announced }
}
