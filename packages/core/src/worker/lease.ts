import type { Clock } from '../ports/clock.ts'
import type { ProcedureVersions, WorkerKey, WorkerStore } from '../ports/store/workers.ts'

export interface LeaseOptions {
  readonly store: { readonly workers: Pick<WorkerStore, 'register' | 'beat'> }
  readonly clock: Pick<Clock, 'elapsed'>
  /** For people: host and process. */
  readonly name: string
  readonly leaseMs: number
  readonly procedures: readonly ProcedureVersions[]
  /** Describes the input schemas of the procedures. */
  readonly describeInputs: () => string
}

/** The worker's row in the store, and the time until which its lease is confirmed. */
export class Lease {
  readonly #options: LeaseOptions
  #worker: WorkerKey = -1
  #inputs: string | null = null
  /** The start time of the last call in which the store confirmed this worker. */
  #provenAt = Number.NEGATIVE_INFINITY

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** The key of the worker; -1 before it is registered. */
  get worker(): WorkerKey {
    return this.#worker
  }

  /** Whether no other worker can have taken over. An effect that starts without it would probably start elsewhere too. */
  get isProven(): boolean {
    const { clock, leaseMs } = this.#options
    return clock.elapsed() - this.#provenAt < leaseMs
  }

  /** Registers the worker under a new key. */
  async register(): Promise<void> {
    const { store, clock, name, leaseMs, procedures, describeInputs } = this.#options
    this.#inputs ??= describeInputs()
    const askedAt = clock.elapsed()
    this.#worker = await store.workers.register({ name, leaseMs, procedures, inputs: this.#inputs })
    this.#provenAt = askedAt
  }

  /** Renews the lease. False: it has expired, and other workers have taken over this worker's runs. */
  async renew(): Promise<boolean> {
    const askedAt = this.#options.clock.elapsed()
    if (!(await this.#options.store.workers.beat(this.#worker))) return false
    this.#provenAt = askedAt
    return true
  }
}
