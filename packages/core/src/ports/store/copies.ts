import type { AskStatus } from '../../base/words.ts'
import type { LogEvent } from '../../events/event.ts'
import type { AskRow } from './asks.ts'
import type { KeptCheckpoint } from './checkpoints.ts'
import type { Message } from './mail.ts'
import type { KeptNotice, NoticeRow } from './notices.ts'
import type { NewRun, RunKey, RunParent, RunRow, RunState } from './runs.ts'
import type { StateRow } from './states.ts'

/** Stores copies of runs. */
export interface CopyStore {
  /** Reads all of a run but its log, at one instant. Null: no run has the id. */
  extract(id: string): Promise<RunExtract | null>
  /**
   * Copies a part of a log into a run that no call finds and no worker claims, until the last part, which gives it its id and
   * its state. Repeating a part changes nothing. What has no last part an hour after its first one is cleared.
   * @param seq the seq of the first event; 0 begins a copy. A log whose first generations were dropped begins with an empty
   *   part of seq 0; only its second part may begin at another seq than the one before has ended.
   * @param last null: further parts follow
   */
  install(copy: RunCopy, seq: number, events: readonly LogEvent[], last: LastPart | null): Promise<Installed>
}

/** A run that is copied part by part. */
export interface RunCopy extends Pick<NewRun, 'id' | 'procedure' | 'version'> {
  /** Identifies the copy in progress: 32 hex digits, drawn by the caller. Two copies with one id do not affect each other. */
  readonly token: string
}

/** What makes a copied log a run. */
export interface LastPart extends Omit<NewRun, keyof RunCopy | 'started' | 'worker'> {
  /** See {@link RunRow.base}. */
  readonly base: number
  /** The hash of the whole log. */
  readonly link: Uint8Array
  /** A live run is due at once, for any worker. */
  readonly state: RunState
  /** Null: now. */
  readonly createdAt: number | null
  readonly endedAt: number | null
  readonly cancelAt: number | null
  readonly parent: RunParent | null
  readonly info: Uint8Array | null
  /** In the order of their numbers. The last number is the mail counter. */
  readonly messages: readonly KeptMessage[]
  readonly asks: readonly KeptAsk[]
  /** The exposed values. */
  readonly states: readonly StateRow[]
  /** In the order of writing, of slots that differ. */
  readonly checkpoints: readonly KeptCheckpoint[]
  /** In the order of writing. They are in no feed. */
  readonly notices: readonly KeptNotice[]
}

/** All of a run but its log. */
export interface RunExtract {
  readonly row: RunRow
  /** In the order of their numbers; used ones included. */
  readonly messages: readonly KeptMessage[]
  /** In the order of their positions; unchecked. */
  readonly asks: readonly AskRow[]
  /** Sorted by name. */
  readonly states: readonly StateRow[]
  /** In the order of writing; none of a completed run, as in {@link CheckpointStore}. Unchecked. */
  readonly checkpoints: readonly KeptCheckpoint[]
  /** In the order of writing; unchecked. */
  readonly notices: readonly ExtractedNotice[]
}

/** A notice as stored, without its run and its reader. */
export type ExtractedNotice = Pick<
  NoticeRow,
  'position' | 'digest' | 'kind' | 'severity' | 'to' | 'payload' | 'at' | 'seq'
>

/** A message as stored; a used one has no payload. */
export interface KeptMessage extends Message {
  readonly key: string | null
  readonly used: boolean
}

/** An ask as stored, without its run. */
export interface KeptAsk
  extends Omit<
    AskRow,
    'run' | 'runKey' | 'procedure' | 'startedBy' | 'status' | 'to' | 'escalateTo' | 'place'
  > {
  readonly status: AskStatus
  readonly to: readonly string[]
  readonly escalateTo: readonly string[]
}

/** The outcome of {@link CopyStore.install}. */
export type Installed =
  | { readonly outcome: 'installed'; readonly run: RunKey; readonly at: number }
  /** A run has the id. Only the last part looks. */
  | { readonly outcome: 'exists' }
  /** The parts before were cleared: begin again. */
  | { readonly outcome: 'lost' }
