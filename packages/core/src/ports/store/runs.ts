import type { RunStatus } from '../../base/words.ts'
import type { NewEvent } from '../../events/event.ts'
import type { WorkerKey } from './workers.ts'

/** The rows of runs: how they are created, marked, made due again, and read. */
export interface RunStore {
  /**
   * Creates runs, at epoch 1, with their first event: seq 0, of epoch 1, or 0 where nobody owns the run. One whose id is
   * taken is not created.
   */
  create(runs: readonly NewRun[]): Promise<readonly Created[]>
  /**
   * Parks a run until a person or a deploy puts it right: unowned, not due, epoch raised. False: not the owner any more.
   * @param cause only of a quarantine
   */
  mark(
    worker: WorkerKey,
    run: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
    cause?: QuarantineCause,
  ): Promise<boolean>
  /**
   * Sets one marked run due now, for any worker that can execute it: a stuck one as it is, a quarantined one without its mark
   * and with `tries` at 0, so that it is no suspect. False: it has not this mark any more, has ended, or is owned.
   */
  retry(run: RunKey, mark: Exclude<Mark, 'none'>): Promise<boolean>
  find(id: string): Promise<RunRow | null>
  /** Newest first. */
  runs(filter: RunQuery): Promise<readonly RunRow[]>
}

/** The small number a run has inside its store; the text id stands once, in `runs`. */
export type RunKey = number

/** Final statuses are kept; whether a live run is running or waiting is read from who owns it. */
export type RunState = 'live' | 'completed' | 'failed' | 'cancelled'

export type EndState = Exclude<RunState, 'live'>

export type Mark = 'none' | 'stuck' | 'quarantined'

/** `damage`: the log or a message fails its checks. `crashes`: workers died over the run. `fault`: Pawl failed on its data. */
export type QuarantineCause = 'damage' | 'crashes' | 'fault'

export interface NewRun {
  readonly id: string
  readonly procedure: string
  /** Null when the starter does not know the code: fixed at the first claim. */
  readonly version: number | null
  readonly started: NewEvent
  /** The hash of the log after that event. */
  readonly link: Uint8Array
  /** The worker that will run it: created already claimed. Null: due at once, for any worker. */
  readonly worker: WorkerKey | null
  readonly tags: readonly string[]
  readonly startedBy: string | null
}

export type Created =
  | { readonly outcome: 'created'; readonly run: RunKey; readonly at: number }
  | { readonly outcome: 'exists'; readonly run: RunKey }

/**
 * A run as it is stored, whatever has become of its row: a store leaves it to core what cannot be understood. A number
 * stands for a word that this version does not know, and null for a list that is none.
 */
export interface RunRow {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  readonly version: number | null
  readonly state: RunState | number
  readonly mark: Mark | number
  /** Why it is marked. */
  readonly reason: Uint8Array | null
  /** Of a quarantine; null if it was marked before causes were stored. */
  readonly cause: QuarantineCause | null
  /** See {@link Claimed.tries}. */
  readonly tries: number
  readonly owned: boolean
  readonly wakeAt: number | null
  readonly head: number
  /** The hash of the log. */
  readonly link: Uint8Array
  readonly mail: number
  readonly createdAt: number
  readonly endedAt: number | null
  readonly tags: readonly string[] | null
  readonly startedBy: string | null
  readonly info: Uint8Array | null
}

export interface RunQuery {
  readonly procedure: string | null
  /** Any of these; empty: all. `running`: live, unmarked, and owned or due; `waiting`: live, unmarked, neither. */
  readonly statuses: readonly RunStatus[]
  readonly tag: string | null
  /** Only runs with a smaller key: the page before ended there. */
  readonly before: RunKey | null
  readonly limit: number
}
