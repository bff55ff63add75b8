import type {
  AskStatus,
  CheckpointRow,
  DecisionRow,
  FeedEntry,
  KeptAnswer,
  KeptNotice,
  LogEvent,
  Mark,
  Message,
  NewAsk,
  NewRun,
  ProcedureVersions,
  QuarantineCause,
  RunKey,
  RunParent,
  RunState,
  StateRow,
  WorkerKey,
} from '@pawl/core/storage'

/** The state that all connections of one memory store share. */
export interface Tables {
  readonly workers: Map<WorkerKey, WorkerRecord>
  readonly runs: Map<string, RunRecord>
  readonly runsByKey: Map<RunKey, RunRecord>
  /** The key of the newest run. */
  newest: RunKey
  /** Copies in progress, by token. */
  readonly copies: Map<string, RunRecord>
  /** Asks of all runs, in the order in which they were opened. */
  readonly asks: AskRecord[]
  /** Answered asks of removed runs. */
  readonly decisions: DecisionRow[]
  /** The number of the newest checkpoint. */
  newestCheckpoint: number
  /** The number of the newest notice. */
  newestNotice: number
  /** Entries of the feed, in order. */
  readonly feed: FeedEntry[]
  /** Callbacks of every connection that watches, by process. */
  readonly watchers: Map<{ readonly process: object }, Set<() => void>>
}

export interface WorkerRecord {
  readonly worker: WorkerKey
  readonly leaseMs: number
  readonly procedures: readonly ProcedureVersions[] | null
  readonly name: string
  readonly startedAt: number
  readonly inputs: string | null
  beatAt: number
  isDead: boolean
  /** Number of runs that the worker tested when it was declared dead. */
  tested: number
}

export interface StateRecord extends StateRow {
  /** How long the log was when it was exposed; null: a copy. */
  readonly seq: number | null
}

/** What a run keeps of the one that was given, besides its code and its log. */
export type KeptRun = Omit<NewRun, 'id' | 'procedure' | 'version' | 'started' | 'worker'>

export interface RunRecord extends KeptRun {
  readonly run: RunKey
  readonly id: string
  readonly procedure: string
  createdAt: number
  parent: RunParent | null
  readonly events: LogEvent[]
  /** The number of events of earlier generations that were dropped: the seq of the first event. */
  dropped: number
  /** Messages, in the order of their numbers. */
  readonly messages: MessageRecord[]
  readonly asks: Map<number, AskRecord>
  readonly asksByKey: Map<string, AskRecord>
  /** The values that it exposes, by name. */
  readonly states: Map<string, StateRecord>
  /** By slot. */
  readonly checkpoints: Map<number, CheckpointRow>
  /** In the order of writing. */
  readonly notices: NoticeRecord[]
  version: number | null
  worker: WorkerKey | null
  wakeAt: number | null
  epoch: number
  base: number
  mail: number
  state: RunState
  mark: Mark
  tries: number
  /** This field and the next two apply only while the run is a suspect. */
  positives: number
  alone: number
  isTested: boolean
  link: Uint8Array
  reason: Uint8Array | null
  cause: QuarantineCause | null
  endedAt: number | null
  /** When it was first requested to be cancelled. */
  cancelAt: number | null
  info: Uint8Array | null
}

export interface NoticeRecord extends KeptNotice {
  readonly n: number
  /** Who has read it. */
  readonly readers: Set<string>
}

export interface MessageRecord extends Omit<Message, 'payload'> {
  key: string | null
  isUsed: boolean
  payload: Uint8Array | null
}

export interface AskRecord extends Omit<NewAsk, 'answered' | 'replaces' | 'key'>, KeptAnswer {
  key: string | null
  readonly run: RunRecord
  readonly openedAt: number
  status: AskStatus
  closedAt: number | null
}

export function makeTables(): Tables {
  return {
    workers: new Map(),
    runs: new Map(),
    runsByKey: new Map(),
    newest: 0,
    copies: new Map(),
    asks: [],
    decisions: [],
    newestCheckpoint: 0,
    newestNotice: 0,
    feed: [],
    watchers: new Map(),
  }
}

/** Returns the number of events in the log of a run, dropped ones included. */
export function headOf({ dropped, events }: RunRecord): number {
  return dropped + events.length
}

/** Orders runs by due time, the earliest first. */
export function compareDue(a: RunRecord, b: RunRecord): number {
  return (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || a.run - b.run
}

/** Copies bytes, because the caller may reuse its buffer. */
export function copy<B extends Uint8Array | null>(bytes: B): B {
  return (bytes && new Uint8Array(bytes)) as B
}
