/** Stores registrations, leases and deaths of workers. */
export interface WorkerStore {
  /** Creates a new worker row; a worker that was declared dead registers again under a new key. */
  register(worker: NewWorker): Promise<WorkerKey>
  /** Renews the lease. False: this worker was declared dead and owns nothing. */
  beat(worker: WorkerKey): Promise<boolean>
  /**
   * Declares workers dead whose lease has expired, or whose process is known to be gone.
   * Releases the runs of all dead workers: unowned, due now, epoch raised, `tries` raised. Returns the number of released
   * runs. Never waits for a locked row; the next sweep handles the rows it skipped.
   *
   * If a worker was testing runs when it was declared dead, their `positives` are raised. If it tested only one, the
   * `alone` of that run is raised too. The `alone` of the other runs it owned is reset to 0.
   */
  sweep(): Promise<number>
  /** Returns what all live workers together can execute. Null: at least one has not declared it. */
  abilities(): Promise<readonly ProcedureVersions[] | null>
  /** Lists the workers that are not dead and whose lease has not expired, the oldest first. */
  list(): Promise<readonly WorkerRow[]>
  /** Stops a worker gracefully: releases all of its runs (epoch raised, `tries` kept) and declares it dead. */
  release(worker: WorkerKey): Promise<void>
}

/** A worker that was not declared dead, for people. */
export interface WorkerRow {
  readonly worker: WorkerKey
  readonly name: string
  /** Null: an earlier version registered it. */
  readonly startedAt: number | null
  readonly beatAt: number
  readonly leaseMs: number
  /** The number of runs that it owns. */
  readonly runs: number
  /** Null: not declared. */
  readonly procedures: readonly ProcedureVersions[] | null
  /** As registered; null: not declared. */
  readonly inputs: string | null
}

/** The key of a registration, never reused. */
export type WorkerKey = number

/** A worker to be registered. */
export interface NewWorker {
  /** For people: host and process. */
  readonly name: string
  readonly leaseMs: number
  /** What it can execute, for other workers to see. Default: not declared. */
  readonly procedures?: readonly ProcedureVersions[]
  /** The input schemas of its procedures, as text that the store does not read. Default: not declared. */
  readonly inputs?: string
}

/** The versions of a procedure that a worker can execute. */
export interface ProcedureVersions {
  readonly name: string
  /** A run without a version gets the highest when it is claimed. */
  readonly versions: readonly number[]
}
