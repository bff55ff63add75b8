import type { RunStatus } from '../../base/words.ts'
import type { LogEvent, NewEvent } from '../../events/event.ts'
import type { WorkerKey, WorkerRow } from './workers.ts'

/** Stores the rows of runs: creates, marks, retries and reads them. */
export interface RunStore {
  /**
   * Creates runs with their first event (seq 0), at epoch 1. The event has epoch 1, or 0 if no worker owns the run.
   * A run whose id exists is not created.
   */
  create(runs: readonly NewRun[]): Promise<readonly Created[]>
  /**
   * Marks a run, which parks it until a person or a deploy fixes it: unowned, not due before `wakeAt`, epoch raised.
   * False: the worker is no longer the owner.
   * @param cause only for a quarantine
   * @param seen the mail counter that the owner had seen: a stuck run with later messages is due, so that none is overlooked
   * @param wakeAt when the run becomes due without a fix. Default: never
   */
  mark(
    worker: WorkerKey,
    run: RunKey,
    epoch: number,
    mark: Exclude<Mark, 'none'>,
    reason: Uint8Array,
    cause?: QuarantineCause,
    seen?: number,
    wakeAt?: number,
  ): Promise<boolean>
  /**
   * Makes one marked run due now, for any worker that can execute it. False: it no longer has this mark, has ended, or is
   * owned. A stuck run keeps its mark. A quarantined one loses its mark and gets `tries` 0, so that it is not a suspect.
   */
  retry(run: RunKey, mark: Exclude<Mark, 'none'>): Promise<boolean>
  /**
   * Begins new generations of different runs that have ended, of all or of none: appends the first event of each, which no worker
   * has written, and makes the run live and due at once. What the ended generation has left in the mail is dropped, also the keys of
   * its messages and the request to cancel it. If the generation keeps a past, it gets further events, stays the child that it was,
   * and only answers, cancels, ends of other runs and what waits for its own end are dropped. False: nothing has changed, since one
   * of the runs is live or removed, or its log has another head.
   */
  restart(generations: readonly NewGeneration[]): Promise<boolean>
  find(id: string): Promise<RunRow | null>
  /** Counts the runs below a run: its children, theirs, and so on, in any state. At most `limit` of them. */
  countDescendants(id: string, limit: number): Promise<number>
  /** Reads who owns a run, and counts the children of its id by status: the newest `limit` of them. */
  survey(run: RunKey, id: string, limit: number): Promise<RunSurvey>
  /** Lists runs, newest first. */
  list(filter: RunQuery): Promise<readonly RunRow[]>
}

/** The small number that identifies a run inside its store; the text id is stored once, in `runs`. */
export type RunKey = number

/** The final states are stored; whether a live run is running or waiting depends on its owner. */
export type RunState = 'live' | 'completed' | 'failed' | 'cancelled'

/** The state of a run that has ended. */
export type EndState = Exclude<RunState, 'live'>

/** Why a live run is not executed; 'none' for a run that is. */
export type Mark = 'none' | 'stuck' | 'quarantined'

/** `damage`: the log or a message failed its checks. `crashes`: workers died over the run. `fault`: Pawl failed on its data. */
export type QuarantineCause = 'damage' | 'crashes' | 'fault'

/** A run to be created. */
export interface NewRun {
  readonly id: string
  readonly procedure: string
  /** Null if the starter does not have the code: fixed at the first claim. */
  readonly version: number | null
  readonly started: NewEvent
  /** The hash of the log after that event. */
  readonly link: Uint8Array
  /** The worker that will execute it: the run is created already claimed. Null: due at once, for any worker. */
  readonly worker: WorkerKey | null
  readonly tags: readonly string[]
  readonly startedBy: string | null
}

/** A run that another run creates in a commit: no worker owns it, and it is due at once. */
export interface ChildRun extends Omit<NewRun, 'worker'> {
  readonly parent: RunParent
}

/** The origin of a child. */
export interface RunParent {
  /** The id of the run that created it. */
  readonly run: string
  /** The position of the operation that created it; null if an earlier version did not store it. */
  readonly position: number | null
}

/** A generation that a caller begins in a run that has ended. */
export interface NewGeneration extends Pick<NewRun, 'version' | 'started' | 'link' | 'tags' | 'startedBy'> {
  readonly run: RunKey
  /** The number of events in the log: the seq of `started`. */
  readonly head: number
  /** What lists show of the run. */
  readonly info: Uint8Array
  /** What it repeats of the generation before it; null: nothing. */
  readonly kept: KeptPast | null
}

/** The past that a generation repeats. Its events are written with the epoch of the generation, and keep their times. */
export interface KeptPast {
  /** The time of the first event. */
  readonly startedAt: number
  /**
   * Exposed values stay that were last written by then, and by a unit before the first event of the generation that has ended: no event
   * that is repeated exposes them. All others are removed. Of a copied value, whose unit is not known, the time alone tells.
   */
  readonly exposedUntil: number
  /** The events behind the first one, with the seqs that follow its own. */
  readonly events: readonly LogEvent[]
  /** When the kept past was first requested to be cancelled. */
  readonly cancelAt: number | null
  /** Signals that are sent again, in this order: the kept past has not received them. */
  readonly signals: readonly KeptSignal[]
  /** The checkpoints that stay; all others of the run are removed. */
  readonly checkpoints: readonly StayingCheckpoint[]
}

/** A checkpoint of the generation before, by its number. */
export interface StayingCheckpoint {
  readonly n: number
  /** The number of events that the log now has before it; null: an event of the kept past records it. */
  readonly seq: number | null
}

/** A signal that was received before, without the key of its message, which still has it. */
export interface KeptSignal {
  readonly name: string
  readonly by: string | null
  readonly payload: Uint8Array | null
}

/** What stands around a run. */
export interface RunSurvey {
  /** Null: no worker owns it. */
  readonly owner: Pick<WorkerRow, 'name' | 'beatAt' | 'leaseMs'> | null
  /** By status, as {@link RunQuery.statuses} say what each one is. */
  readonly children: { readonly [S in RunStatus]: number }
}

/** The outcome of a creation. */
export type Created =
  | { readonly outcome: 'created'; readonly run: RunKey; readonly at: number }
  | { readonly outcome: 'exists'; readonly run: RunKey }

/**
 * A run as stored. Its row may be damaged: the store returns it unchecked, and core validates it.
 * A number represents a word that this version does not know, and null a malformed list.
 */
export interface RunRow extends Omit<NewRun, 'started' | 'worker' | 'tags'> {
  readonly run: RunKey
  readonly state: RunState | number
  readonly mark: Mark | number
  /** Why it is marked. */
  readonly reason: Uint8Array | null
  /** The cause of a quarantine; null if it was marked before causes were stored. */
  readonly cause: QuarantineCause | null
  /** See {@link Claimed.tries}. */
  readonly tries: number
  readonly owned: boolean
  /** When it is due. Of an owned run: when its hold is over, if it has had one. See {@link MailStore.hold}. */
  readonly wakeAt: number | null
  readonly head: number
  /**
   * The seq of the first event of the present generation: its `started`. The log of a run is a sequence of generations; only
   * the present one is executed.
   */
  readonly base: number
  /** The hash of the log. */
  readonly link: Uint8Array
  readonly mail: number
  readonly createdAt: number
  readonly endedAt: number | null
  /** When it was first requested to be cancelled. */
  readonly cancelAt: number | null
  readonly tags: readonly string[] | null
  /** The run that created it; null if a caller did. */
  readonly parent: RunParent | null
  readonly info: Uint8Array | null
}

/** Selects a page of runs; null means any. */
export interface RunQuery {
  readonly procedure: string | null
  /** Any of these; empty: all. `running`: live, unmarked, and owned or due. `waiting`: live, unmarked, neither. */
  readonly statuses: readonly RunStatus[]
  readonly tag: string | null
  /** The id of the run that created them. */
  readonly parent: string | null
  /** Only runs whose present generation has a notice of kind 'failed-undo'. */
  readonly failedUndo: boolean
  /** Only runs with a smaller key, where the previous page ended. */
  readonly before: RunKey | null
  readonly limit: number
}
