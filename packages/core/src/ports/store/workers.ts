/** Registrations, leases and deaths of workers. */
export interface WorkerStore {
  /** Makes a new worker row; a worker that was declared dead registers anew and never comes back as the old one. */
  register(worker: NewWorker): Promise<WorkerKey>
  /** Renews the lease. False: this worker was declared dead and owns nothing any more. */
  beat(worker: WorkerKey): Promise<boolean>
  /**
   * Declares workers dead whose lease has run out (or whose process is gone, where that can be known) and
   * hands the runs of all dead workers back: unowned, due now, epoch raised, `tries` raised. Returns how
   * many runs it handed back. Never waits for a locked row; what it misses the next sweep finds.
   *
   * A worker that tested runs when it was declared dead raises the `positives` of these. If there was only one,
   * its `alone` is raised too. The `alone` of the runs it owned beside them falls to 0.
   */
  sweep(): Promise<number>
  /** What the live workers can execute, all together: their leases run. Null: one of them has not said. */
  abilities(): Promise<readonly ProcedureVersions[] | null>
  /** A graceful stop: hands all runs of the worker back (epoch raised, `tries` kept) and declares it dead. */
  release(worker: WorkerKey): Promise<void>
}

/** One per registration of a worker, never reused. */
export type WorkerKey = number

export interface NewWorker {
  /** For people: host and process. */
  readonly name: string
  readonly leaseMs: number
  /** What it can execute, for others to see. Default: it does not say. */
  readonly procedures?: readonly ProcedureVersions[]
}

export interface ProcedureVersions {
  readonly name: string
  /** A run that has no version yet gets the highest when it is claimed. */
  readonly versions: readonly number[]
}
