import type { EndState, RunKey, RunState } from './runs.ts'

/**
 * Stores checkpoints. A checkpoint that a run makes is an effect of its unit. No call but `places` and `remove` finds those of a
 * completed run.
 */
export interface CheckpointStore {
  /** Adds a checkpoint that no event of the run records, to a live run. */
  add(run: RunKey, checkpoint: AddedCheckpoint): Promise<CheckpointAdded>
  find(run: RunKey, slot: number): Promise<CheckpointRow | null>
  /** Lists checkpoints, the newest first. */
  list(query: CheckpointQuery): Promise<readonly CheckpointRow[]>
  /** Lists where checkpoints are and how old they are, the newest first; see {@link CheckpointPlace}. */
  places(query: CheckpointPlaceQuery): Promise<readonly CheckpointPlace[]>
  /** Removes checkpoints by their numbers. Returns how many there were. */
  remove(numbers: readonly number[]): Promise<number>
}

/** A checkpoint to be written. */
export interface NewCheckpoint {
  /** Identifies it in its run. One that is written again replaces the one before. */
  readonly slot: number
  /** The position that it was made at. */
  readonly position: number
  readonly name: string | null
  /** The saved value. */
  readonly payload: Uint8Array | null
}

/** A checkpoint that a caller makes. */
export interface AddedCheckpoint extends NewCheckpoint {
  /** The number of events that the log had. */
  readonly seq: number
}

/** A checkpoint of a copied run. */
export interface KeptCheckpoint extends NewCheckpoint {
  readonly at: number
  /** See {@link CheckpointRow.seq}. */
  readonly seq: number | null
}

/** The outcome of an addition. */
export type CheckpointAdded =
  | { readonly outcome: 'added'; readonly at: number }
  /** The run has a checkpoint in this slot. */
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'ended'; readonly state: EndState | number }

/** A checkpoint as stored. */
export interface CheckpointRow extends NewCheckpoint {
  /** Increasing in the order of writing, with gaps. */
  readonly n: number
  /** The id of the run. */
  readonly run: string
  readonly runKey: RunKey
  readonly at: number
  /** Null: an event of the run records it. */
  readonly seq: number | null
}

/** Selects a page of checkpoints; null means any. */
export interface CheckpointQuery {
  readonly run: RunKey | null
  /** Only those made at this instant or before. */
  readonly until: number | null
  /** Only those with a smaller number, where the previous page ended. */
  readonly before: number | null
  readonly limit: number
}

/** Selects a page of places; null means any. */
export type CheckpointPlaceQuery = Omit<CheckpointQuery, 'until'>

/** What decides whether a checkpoint is kept. */
export interface CheckpointPlace {
  readonly n: number
  readonly run: RunKey
  readonly procedure: string
  readonly state: RunState | number
  readonly at: number
}
