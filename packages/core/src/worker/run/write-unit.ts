import type { RunInfo, RunOrigin } from '../../events/payloads.ts'
import type { Unit } from '../../ports/store/log.ts'
import type { Draft, RunDraft } from '../activities/activity.ts'
import { cancelledEvent, noteOf } from './cancelling.ts'
import { tellOfFailedUndos } from './notices.ts'
import { eventsOf } from './outbox.ts'
import type { Published } from './published.ts'
import type { RunState } from './state.ts'
import { composeUnit, type UnitParts } from './unit.ts'

// Composes a unit of what a run has decided to write.

/** Adds what the run shows of itself. */
function publish(state: RunState, published: Published, parts: UnitParts): UnitParts {
  const { cancelled, services } = state
  const current = (): RunInfo => ({ waiting: [], ...(cancelled === null ? {} : { cancelled }) })
  const { effects, info } = published.take(parts.info, current, services.time.now())
  return { ...parts, info, effects: [...(parts.effects ?? []), ...effects] }
}

/** Returns the unit that records drafts, and keeps the run. */
export function keep(state: RunState, drafts: readonly Draft[], cancel: RunDraft | null = null): Unit {
  const parts = { events: eventsOf(drafts), drafts, next: { do: 'keep' }, info: null } as const
  const cancels = drafts.find((draft) => draft.cancels !== undefined)?.cancels ?? cancel?.payload
  if (cancels === undefined) return write(state, parts)
  const cancelled = state.cancelled ?? noteOf({ payload: cancels }, state.services.time.now())
  return write(state, {
    ...parts,
    events: cancel === null ? parts.events : [...parts.events, cancelledEvent(cancel)],
    effects: cancel?.effects ?? [],
    info: cancelled === null ? null : { waiting: [], cancelled },
  })
}

/** Returns a unit, with what every unit carries: the marks of new branches, and what the run shows of itself. */
export function write(state: RunState, given: UnitParts): Unit {
  const told = tellOfFailedUndos(state)
  const all = told.length === 0 ? given : { ...given, effects: [...(given.effects ?? []), ...told] }
  const parts = state.published === null ? all : publish(state, state.published, all)
  state.moveTo('writing')
  state.callOff()
  const { branches } = state.continuation
  const marks = branches.draft()
  const marked = marks.length === 0 ? parts : { ...parts, events: [...marks, ...parts.events] }
  const info = parts.info === null ? null : withOrigin(parts.info, state.continuation.origin)
  return composeUnit(state.log, state.mailbox.seen, info === parts.info ? marked : { ...marked, info })
}

/** Adds what lists show of the origin of the log; null: it is the first of its run, which is no fork. */
function withOrigin(info: RunInfo, origin: RunOrigin | null): RunInfo {
  return origin === null ? info : { ...info, ...origin }
}
