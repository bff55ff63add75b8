import type { Clock } from '../ports/clock.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { ProcedureVersions, WorkerKey } from '../ports/store/workers.ts'

export interface LeaseOptions {
  readonly store: Pick<StorePort, 'register' | 'beat'>
  readonly clock: Pick<Clock, 'elapsed'>
  /** For people: host and process. */
  readonly name: string
  readonly leaseMs: number
  readonly procedures: readonly ProcedureVersions[]
}

/** The row of the worker in the store, and until when it proves that the worker is alive. */
export class Lease {
  readonly #options: LeaseOptions
  #worker: WorkerKey = -1
  /** When the call was made by which the store last said that this worker is alive. */
  #provenAt = Number.NEGATIVE_INFINITY

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** The key of the worker; -1 before it is registered. */
  get worker(): WorkerKey {
    return this.#worker
  }

  /** Whether no other worker can have taken over. An effect that begins without it would likely begin elsewhere too. */
  get isProven(): boolean {
    const { clock, leaseMs } = this.#options
    return clock.elapsed() - this.#provenAt < leaseMs
  }

  /** Registers the worker under a new key. */
  async register(): Promise<void> {
    const { store, clock, name, leaseMs, procedures } = this.#options
    const askedAt = clock.elapsed()
    this.#worker = await store.register({ name, leaseMs, procedures })
    this.#provenAt = askedAt
  }

  /** Renews the lease. False: it has expired, and other workers have taken over what this one owned. */
  async renew(): Promise<boolean> {
    const askedAt = this.#options.clock.elapsed()
    if (!(await this.#options.store.beat(this.#worker))) return false
    this.#provenAt = askedAt
    return true
  }
}
