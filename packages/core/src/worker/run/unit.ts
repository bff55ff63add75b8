import type { WrittenEvent } from '../../events/event.ts'
import { encodeRecord } from '../../events/payload.ts'
import type { RunInfo } from '../../events/payloads.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Effect, Unit } from '../../ports/store/log.ts'
import type { Draft } from '../activities/activity.ts'
import { describeEnding, type Ending, endedEvent, type Past } from './ending.ts'
import type { LogWriter } from './log-writer.ts'
import { effectsOf, eventsOf } from './outbox.ts'

// Decides what a run writes next: pure. The run gathers its state, and carries out the plan.

/** Waits shorter than this stay with their worker: parking and claiming again would cost more than it saves. */
export const lingerMs = 1_000

/** The state of a run that has neither ended nor stopped at a bug, after its messages and timers were handled. */
export interface Standing {
  /** Store time. */
  readonly now: number
  /** Whether no message is left that an operation would take. */
  readonly isHandedOut: boolean
  /** Whether the worker stops, and this run may go to another one at once. */
  readonly handsOver: boolean
  /** Whether nothing is to be written. */
  readonly isEmpty: boolean
  /** Whether the drafts make the procedure move. */
  readonly settles: boolean
  /** When an operation next wants to be called. */
  readonly dueAt: number | null
  /** Whether the author's code is running or queued. */
  readonly isBusy: boolean
  /** Whether the author's code is running. */
  readonly isWorking: boolean
  /** When what the run shows of itself is to be written, if nothing is written before. Null: there is nothing. */
  readonly publishAt: number | null
}

export type Plan =
  /** Writes the drafts and keeps the run. */
  | { readonly do: 'write' }
  /** Writes the drafts and parks the run. */
  | { readonly do: 'park'; readonly wakeAt: number | null }
  /** Writes nothing and leaves the run to another worker. */
  | { readonly do: 'hand-over' }
  /** Writes nothing until then; null: until something happens. */
  | { readonly do: 'wait'; readonly until: number | null }
  /** Writes nothing now, and has more messages to hand out. */
  | { readonly do: 'look-again' }

export function planUnit(standing: Standing): Plan {
  const { now, isHandedOut, handsOver, isEmpty, settles, dueAt, isBusy, isWorking, publishAt } = standing
  if (handsOver && isEmpty && !isWorking) return { do: 'hand-over' }
  const parks = isHandedOut && !settles && !isBusy && (dueAt === null || dueAt - now > lingerMs)
  if (parks) return { do: 'park', wakeAt: dueAt }
  if (!isEmpty || (publishAt !== null && publishAt <= now)) return { do: 'write' }
  return isHandedOut ? { do: 'wait', until: earlier(dueAt, publishAt) } : { do: 'look-again' }
}

export function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

/** The content of a unit. */
export interface UnitParts {
  readonly events: readonly WrittenEvent[]
  readonly drafts: readonly Draft[]
  /** What changes beside what the drafts change. */
  readonly effects?: readonly Effect[]
  readonly next: Unit['next']
  /** What lists show of the run from now on; null leaves it unchanged. */
  readonly info: RunInfo | null
}

/** Builds the unit that appends these events. `seen`: the mail counter that the decision is based on. */
export function composeUnit(log: LogWriter, seen: number, parts: UnitParts): Unit {
  const { events, drafts, next, info } = parts
  const { run, epoch, head, seals, link } = log.append(events)
  const ofDrafts = effectsOf(drafts)
  const effects = parts.effects === undefined ? ofDrafts : [...ofDrafts, ...parts.effects]
  // One literal, not spread parts: this runs for every step.
  return {
    run,
    epoch,
    head,
    events,
    seals,
    link,
    seen,
    strict: next.do === 'end' || drafts.some(({ strict }) => strict !== undefined),
    next,
    effects: info === null ? effects : [...effects, { do: 'show', info: encodeRecord(info, 'info') }],
  }
}

/** Composes the last unit of a run: the results that arrived in time, the withdrawn asks, and the end. */
export function endParts(
  ending: Ending,
  sent: readonly Draft[],
  withdrawn: readonly Draft[],
  signals: readonly string[],
  past: Past,
): UnitParts {
  const drafts = [...sent, ...withdrawn]
  return {
    events: [...eventsOf(drafts), endedEvent(ending)],
    drafts,
    next: { do: 'end', state: ending.state },
    info: describeEnding(ending, signals, past),
  }
}

/** Withdraws an open ask. `slot`: the number under which it is stored. */
export function withdrawal(pending: Pending, slot: number): Draft {
  const effect: Effect = { do: 'close-ask', position: slot, status: 'withdrawn' }
  return { type: 'withdrawn', pending, effects: [effect] }
}
