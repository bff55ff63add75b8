import type { NewEvent, StoredEvent } from '../../events/event.ts'
import type { NewAsk } from './asks.ts'
import type { EndState, RunKey } from './runs.ts'
import type { WorkerKey } from './workers.ts'

/** The logs of runs: what a worker appends to them, and how they are read. */
export interface LogStore {
  /** Appends to the logs of runs the worker owns, with everything that follows from the events. At most one unit of a run in a call. */
  commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]>
  /** Events of a log from `seq` on, in order, at most `limit`: as they are stored, whatever they have become. */
  load(run: RunKey, seq: number, limit: number): Promise<readonly StoredEvent[]>
}

/** What one run writes in one go. Written only if epoch, head and worker still match the run's row and the run is live. */
export interface Unit {
  readonly run: RunKey
  readonly epoch: number
  /** How many events the log has; the first new event gets this seq. */
  readonly head: number
  /** With the seal where one ends: `seals[i]` belongs to `events[i]`. */
  readonly events: readonly NewEvent[]
  readonly seals: readonly (Uint8Array | null)[]
  /** The hash of the log after these events; null when there are none. */
  readonly link: Uint8Array | null
  /** The mail counter the decision was based on. */
  readonly seen: number
  /** Refused with 'mail' if a message has come since: for what closes an ask, fires a timeout, or ends the run. */
  readonly strict: boolean
  /**
   * keep: stay the owner. park: let go until `wakeAt` (null: until a message), but only if no message has
   * come since `seen`; otherwise the events are written and the run stays owned. end: never runs again.
   */
  readonly next:
    | { readonly do: 'keep' }
    | { readonly do: 'park'; readonly wakeAt: number | null }
    | { readonly do: 'end'; readonly state: EndState }
  /** What else changes, in order. Empty for most units: a plain step has none. */
  readonly effects: readonly Effect[]
}

/** What a unit changes beside its events and the row of its run. */
export type Effect =
  | { readonly do: 'open-ask'; readonly ask: NewAsk }
  | { readonly do: 'close-ask'; readonly position: number; readonly status: 'timed-out' | 'withdrawn' }
  /** Marks a message as used: these events record it. */
  | { readonly do: 'consume'; readonly n: number }
  /** Replaces what lists show of the run (`RunInfo` of events/payloads). At most one in a unit. */
  | { readonly do: 'show'; readonly info: Uint8Array }

export type UnitOutcome =
  /** Written. `epoch` differs from the unit's if the outcome had to be found out by claiming again. */
  | {
      readonly outcome: 'ok'
      readonly at: number
      readonly epoch: number
      readonly mail: number
      readonly parked: boolean
    }
  /** Not written and never will be; the worker still owns the run, with this epoch. */
  | { readonly outcome: 'lost'; readonly epoch: number }
  /** Another owner. Nothing was written. */
  | { readonly outcome: 'fenced' }
  /** The seq is taken although the fence held: the log is damaged. Nothing was written. */
  | {
      readonly outcome: 'conflict'
      /** What else kept it from being written, where it was not the head. */
      readonly why?: string
    }
  /** A strict unit met a message it had not seen. Nothing was written. */
  | { readonly outcome: 'mail'; readonly mail: number }
