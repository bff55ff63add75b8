import {
  type EngineSettings,
  type Entropy,
  keptByDefault,
  type Notifier,
  sha256,
  Worker,
} from '@pawl/core/internal'
import type { StorePort, WorkerKey } from '@pawl/core/storage'
import type { Bodies } from './doubles.ts'
import { observeStore } from './observed-store.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface LifeOptions {
  readonly settings: EngineSettings & { readonly logger: NonNullable<EngineSettings['logger']> }
  readonly store: StorePort
  readonly clock: VirtualClock
  readonly entropy: Entropy
  readonly bodies: Bodies
  readonly notifier: Notifier
  readonly replay: 'always' | 'on-crash'
  /** The store has done something for this worker. */
  readonly onCall: (method: string, args: readonly unknown[], outcome: unknown) => void
}

/** One life of the worker: the production one, whose timers and whose connection end with it. */
export class ProcessLife {
  readonly worker: Worker
  readonly bodies: Bodies
  readonly #store: StorePort
  readonly #callOffAll: () => void
  readonly #over: Promise<void>
  #tellOver: () => void = () => {}
  #isOver = false
  #isStarting = true
  #key: WorkerKey | null = null

  constructor({ settings, store, clock, entropy, bodies, notifier, replay, onCall }: LifeOptions) {
    this.#store = store
    this.bodies = bodies
    this.#over = new Promise((resolve) => {
      this.#tellOver = resolve
    })
    const seen = clock.see()
    this.#callOffAll = seen.callOffAll
    const observed = observeStore(store, {
      isGone: () => this.#isOver,
      onCall: (method, args, outcome) => {
        if (method === 'register') this.#key = outcome as WorkerKey
        onCall(method, args, outcome)
      },
    })
    this.worker = new Worker({
      ...settings,
      ...{ store: observed, clock: seen.clock, entropy, effects: bodies, sha256, notifier, name: 'test' },
      keep: replay === 'always' ? { runs: 0, bytes: 0 } : keptByDefault,
      replay: replay === 'always' ? 'always' : 'when-needed',
    })
  }

  get isAtRest(): boolean {
    return !this.#isStarting && this.worker.isAtRest
  }

  /** Resolved once it works, or is over. */
  async start(): Promise<void> {
    try {
      await this.#store.open()
      await Promise.race([this.worker.start(), this.#over])
    } finally {
      this.#isStarting = false
    }
  }

  /** As kill -9 would: nothing is written any more, and no call is answered. */
  end(): void {
    this.#isOver = true
    this.worker.kill()
    this.#callOffAll()
    this.#tellOver()
  }

  /** After its end: the store learns that the process is gone. `blamed`: its runs count that it died with them. */
  async dispose(blamed: boolean): Promise<void> {
    if (!blamed && this.#key !== null) await this.#store.release(this.#key)
    await this.#store.close()
  }
}
