import {
  type EngineSettings,
  type Entropy,
  keptByDefault,
  type Notifier,
  type StoreCall,
  sha256,
  Worker,
} from '@pawl/core/internal'
import type { WholeStore, WorkerKey } from '@pawl/core/storage'
import type { Bodies } from './doubles.ts'
import { observeStore } from './observed-store.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface LifeOptions {
  readonly settings: EngineSettings & { readonly logger: NonNullable<EngineSettings['logger']> }
  readonly store: WholeStore
  readonly clock: VirtualClock
  readonly entropy: Entropy
  readonly bodies: Bodies
  readonly notifier: Notifier
  readonly replay: 'always' | 'on-crash'
  /** Called after the store has completed a call of this worker. */
  readonly onCall: (call: StoreCall, args: readonly unknown[], outcome: unknown) => void
}

/** Runs one life of the production worker. Its timers and its connection end with it. */
export class ProcessLife {
  readonly worker: Worker
  readonly bodies: Bodies
  readonly #store: WholeStore
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
      onCall: (call, args, outcome) => {
        if (call === 'workers.register') this.#key = outcome as WorkerKey
        onCall(call, args, outcome)
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

  /** Starts the worker. Resolves once it runs, or after `end`. */
  async start(): Promise<void> {
    try {
      await this.#store.open()
      await Promise.race([this.worker.start(), this.#over])
    } finally {
      this.#isStarting = false
    }
  }

  /** Ends the life as `kill -9` would: nothing more is written, and pending calls never settle. */
  end(): void {
    this.#isOver = true
    this.worker.kill()
    this.#callOffAll()
    this.#tellOver()
  }

  /** Tells the store, after `end`, that the process is gone. If `blamed`, its runs count the crash. */
  async dispose(blamed: boolean): Promise<void> {
    if (!blamed && this.#key !== null) await this.#store.workers.release(this.#key)
    await this.#store.close()
  }
}
