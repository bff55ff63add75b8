import type { NewEvent, StoredEvent } from '../../events/event.ts'
import type { NewAsk } from './asks.ts'
import type { NewCheckpoint } from './checkpoints.ts'
import type { OutgoingMessage } from './mail.ts'
import type { NewNotice } from './notices.ts'
import type { ChildRun, EndState, RunKey } from './runs.ts'
import type { WorkerKey } from './workers.ts'

/** Stores the logs of runs: appends events and reads them. */
export interface LogStore {
  /**
   * Appends to the logs of runs the worker owns, with all effects of the events. At most one unit per run in a call. A run
   * that a unit creates or sends to has no unit in the same call and is created by no other one of it.
   */
  commit(worker: WorkerKey, units: readonly Unit[]): Promise<readonly UnitOutcome[]>
  /** Returns at most `limit` events of a log from `seq` on, in order, as stored and unchecked. */
  load(run: RunKey, seq: number, limit: number): Promise<readonly StoredEvent[]>
}

/** What one run writes in a transaction. Written only if epoch, head and worker still match its row and the run is live. */
export interface Unit {
  readonly run: RunKey
  readonly epoch: number
  /** The number of events in the log; the first new event gets this seq. */
  readonly head: number
  /** The new events; `seals[i]` is the seal of `events[i]`, if a block ends there. */
  readonly events: readonly NewEvent[]
  readonly seals: readonly (Uint8Array | null)[]
  /** The hash of the log after these events; null if there are none. */
  readonly link: Uint8Array | null
  /** The mail counter that the decision was based on. */
  readonly seen: number
  /** Rejected with 'mail' if a message has arrived since: for units that close an ask, fire a timeout, or end the run. */
  readonly strict: boolean
  /**
   * What happens to the run afterwards.
   * - keep: the worker stays the owner.
   * - park: released until `wakeAt` (null: until a message), but only if no message has arrived since `seen`. Otherwise
   *   the events are written and the run stays owned.
   * - end: the run never executes again.
   */
  readonly next:
    | { readonly do: 'keep' }
    | { readonly do: 'park'; readonly wakeAt: number | null }
    | { readonly do: 'end'; readonly state: EndState }
  /** Further changes, in order. Empty for most units: a plain step has none. */
  readonly effects: readonly Effect[]
}

/** A change beside the events and the row of the run. */
export type Effect =
  | { readonly do: 'open-ask'; readonly ask: NewAsk }
  | { readonly do: 'close-ask'; readonly position: number; readonly status: 'timed-out' | 'withdrawn' }
  /** Marks a message as used: these events record it. */
  | { readonly do: 'consume'; readonly n: number }
  /** Creates a run, due at once, which no worker owns. The unit is refused if a run has its id. */
  | { readonly do: 'create-run'; readonly run: ChildRun }
  /** Leaves a message for another run. A run that cannot get it is passed over, unless it must. */
  | { readonly do: 'send'; readonly message: OutgoingMessage }
  /** Answers a message of kind 'update', and marks it as used. */
  | { readonly do: 'reply'; readonly n: number; readonly payload: Uint8Array }
  /** Makes a message of kind 'update' unread again that was consumed: the next generation of the run takes it. */
  | { readonly do: 'give-back'; readonly n: number; readonly payload: Uint8Array | null }
  /** Writes a checkpoint of the run, which an event of the unit records. At most one per slot and unit. */
  | { readonly do: 'checkpoint'; readonly checkpoint: NewCheckpoint }
  /** Writes a notice to people, and the entry of the feed. The run may have it already: see {@link NewNotice}. */
  | { readonly do: 'notify'; readonly notice: NewNotice }
  /** Replaces an exposed value. At most one per name and unit. */
  | { readonly do: 'expose'; readonly name: string; readonly payload: Uint8Array | null }
  /**
   * A generation of the run begins with the event of this seq, which the unit writes: `started`. At most one per unit. See
   * {@link RunRow.base}.
   */
  | { readonly do: 'begin-generation'; readonly base: number }
  /** Replaces what lists show of the run (`RunInfo` of events/payloads). At most one per unit. */
  | { readonly do: 'show'; readonly info: Uint8Array }

/** Why another run does not allow an effect of a unit. */
export type RefusedWhy = 'exists' | 'missing' | 'ended' | 'quarantined' | 'held'

/** The outcome of a unit. */
export type UnitOutcome =
  /** Written. `epoch` differs from the unit's if the outcome was unknown and had to be found by claiming again. */
  | {
      readonly outcome: 'ok'
      readonly at: number
      readonly epoch: number
      readonly mail: number
      readonly parked: boolean
    }
  /** Not written, and never will be; the worker still owns the run, with this epoch. */
  | { readonly outcome: 'lost'; readonly epoch: number }
  /** The run has another owner. Nothing was written. */
  | { readonly outcome: 'fenced' }
  /** The seq exists although the fence held: the log is damaged. Nothing was written. */
  | {
      readonly outcome: 'conflict'
      /** The reason, if something other than the head prevented the write. */
      readonly why?: string
    }
  /** A strict unit found an unseen message. Nothing was written. */
  | { readonly outcome: 'mail'; readonly mail: number }
  /**
   * Another run does not allow an effect: the first such one is at the index `item` of the effects. Nothing was written.
   * - exists: a run has the id of the run to be created, or an effect before it creates one with this id.
   * - missing, ended, quarantined: there is no such run to send to, or it takes no message.
   * - held: it takes this message later. See {@link MailStore.hold}.
   */
  | { readonly outcome: 'refused'; readonly item: number; readonly why: RefusedWhy }
