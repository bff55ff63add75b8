import type { ProcedureOperation } from '../../authoring/operations.ts'
import { rounds } from '../../host/rounds.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Activity, Draft } from '../activities/activity.ts'
import { createActivity } from '../activities/registry.ts'
import { RunActivityContext } from './activity-context.ts'
import { isAct } from './ending.ts'
import { guard } from './leaving.ts'
import { Opening } from './opening.ts'
import { cancelClosed } from './relatives.ts'
import type { RunState } from './state.ts'

// Starts, closes and restarts the operations of a run.

/** Work of starting an operation, in rows. */
const workOfBegin = 3

/** Starts operations that have not started: a few at once, many in slices. */
export function beginAll(state: RunState, pending: readonly Pending<ProcedureOperation>[]): void {
  const { begun } = state.services.slices
  const waiting = pending.filter(({ position }) => !state.activities.has(position))
  if (waiting.length <= begun) return begin(state, waiting)
  const opening = new Opening(waiting)
  state.opening = opening
  begin(state, opening.take(begun))
}

/** Continues starting operations: at the start, after each slice, and after each write, which makes room. */
export function beginMore(state: RunState): void {
  const { opening } = state
  if (opening === null || state.isHandedOver) return state.ready()
  if (opening.isDone && state.phase === 'still') return state.moves.onBegun(opening)
  const room = roomToBegin(state)
  if (!opening.isDone && !opening.isScheduled && room > 0) {
    opening.isScheduled = true
    const count = Math.min(opening.left, state.services.slices.begun)
    const run = (): number => beginSlice(state, opening) * workOfBegin
    rounds.add({ weigh: () => count * workOfBegin, run })
  }
  state.ready()
}

/** At the end nothing is written until all have started, so the drafts that there are take no room from them. */
function roomToBegin({ ending, outbox }: RunState): number {
  return ending === null ? outbox.room : Number.POSITIVE_INFINITY
}

/** Starts the next operations and returns their number. */
function beginSlice(state: RunState, opening: Opening): number {
  opening.isScheduled = false
  if (state.opening !== opening || state.isHandedOver) return 0
  const slice = opening.take(Math.min(state.services.slices.begun, roomToBegin(state)))
  guard(state, () => {
    begin(state, slice)
    if (!state.isOver && state.bug === null) beginMore(state)
  })
  return slice.length
}

function begin(state: RunState, pending: readonly Pending<ProcedureOperation>[]): void {
  const holds = state.isBeingCancelled
  for (const one of pending) {
    if (holds && isAct(one) && !state.continuation.notes.isAsked(one.position)) state.held.push(one)
    else open(state, one).begin()
    if (state.bug !== null) return
  }
}

/** Returns the operations that were held back until the cancel was recorded, and that it has not closed. */
export function takeHeld(state: RunState): readonly Pending<ProcedureOperation>[] {
  return state.held.splice(0).filter((one) => state.continuation.isPending(one))
}

function open(state: RunState, pending: Pending<ProcedureOperation>): Activity {
  state.context ??= new RunActivityContext(state)
  const records = state.continuation.notes.recordsOf(pending.position)
  const activity = createActivity(state.context, pending, records)
  state.activities.add(pending, activity)
  return activity
}

/**
 * Stops the activities of closed scopes; only their withdrawal is recorded. After a crash in between, the log may contain
 * the start of an operation without its withdrawal.
 */
export function close(state: RunState, closed: readonly Pending<ProcedureOperation>[]): void {
  const { activities, outbox } = state
  const { notes } = state.continuation
  for (const pending of closed) {
    const { position } = pending
    if (notes.isAsked(position) && !activities.has(position)) open(state, pending).begin()
    if (!activities.close(position)) continue
    state.giveBack(outbox.drop(position))
    const records = notes.recordsOf(position)
    const retried = notes.retriedChildOf(position)
    if (records.length === 0 && retried === undefined) continue
    outbox.add({ type: 'withdrawn', pending, effects: cancelClosed(state.id, records, retried) })
  }
}

/** Restarts the activities of drafts that were not written, since the run may see more messages first. */
export function decideAgain(state: RunState, drafts: readonly Draft[]): void {
  if (drafts.length === 0) return
  state.giveBack(drafts)
  for (const activity of new Set(drafts.flatMap(({ strict }) => strict ?? []))) activity.begin()
}
