import { unreachable } from '../../base/unreachable.ts'
import type { Pending } from '../../kernel/operation.ts'
import { createScope } from '../../kernel/scope.ts'
import type { Unit } from '../../ports/store/log.ts'
import { isEndOfOther, positionOf } from '../../runs/topics.ts'
import { consume, type Draft } from '../activities/activity.ts'
import type { Bug } from './diagnose.ts'
import { prepareEnd } from './end-unit.ts'
import { guard, keepActs } from './leaving.ts'
import { decideAgain } from './operations.ts'
import { eventsOf } from './outbox.ts'
import { planCancel } from './plan-cancel.ts'
import type { RunState } from './state.ts'
import { refuseUndeclared } from './unanswered.ts'
import { earlier, planUnit, type Standing } from './unit.ts'
import { keep, write } from './write-unit.ts'

/**
 * Returns the unit to write now; null if there is nothing to write. The run advances first, and then decides what to
 * write.
 */
export function prepareUnit(state: RunState): Unit | null {
  if (state.phase !== 'still' || state.isHolding || state.mailbox.isBehind) return null
  const { composeLast } = state
  if (composeLast !== null) return guard(state, () => write(state, composeLast(state.mailbox)))
  const { accepted } = state.continuation
  if (accepted !== null)
    return write(state, { events: [accepted], drafts: [], next: { do: 'keep' }, info: null })
  return guard(state, () => {
    if (state.withheld !== null) return keep(state, [])
    if (state.bug !== null) return prepareStop(state, state.bug)
    if (state.opening !== null) return prepareWhileOpening(state)
    if (state.ending !== null) return prepareEnd(state, state.ending, handOut(state, 'asks'))
    return prepareNext(state, advance(state))
  })
}

/** Hands out messages and calls due operations: both may change the unit. */
function advance(state: RunState): Standing {
  const { activities, outbox, services } = state
  const request = state.cancelled === null ? state.cancelRequest : undefined
  // A drafted request still precedes the messages after it: its unit may fail, and then they must not overtake it.
  const before = request?.n ?? outbox.cancelRequest
  const isHandedOut = handOut(state, 'all', before)
  if (!state.mailbox.isEmpty) {
    dropLate(state)
    refuseUndeclared(state, standIn)
  }
  const now = services.time.now()
  let survey = activities.survey()
  const changesAt = planCancel(state, now, isHandedOut, request)
  // A message takes precedence over the timeout of the operation that would take it.
  if (isHandedOut && before === undefined && survey.dueAt !== null && survey.dueAt <= now) {
    activities.callDue(now, outbox.positions, outbox.room)
    survey = activities.survey()
  }
  const { isBusy, isWorking } = survey
  const dueAt = earlier(survey.dueAt, changesAt)
  const { isEmpty, settles } = outbox
  const handsOver = services.handsOver && !state.isSuspect
  const publishAt = state.published?.dueAt ?? null
  return { now, isHandedOut, handsOver, isEmpty, settles, dueAt, isBusy, isWorking, publishAt }
}

/** Marks as used the messages about the ends of runs for which no operation waits any more. */
function dropLate({ mailbox, activities, outbox }: RunState): void {
  for (const topic of [...mailbox.topics]) {
    if (!isEndOfOther(topic) || activities.has(positionOf(topic) as number)) continue
    for (let late = mailbox.take([topic]); late !== undefined; late = mailbox.take([topic]))
      outbox.add({ type: null, pending: standIn(positionOf(topic) as number), effects: [consume(late.n)] })
  }
}

/** An operation that the run no longer knows: its drafts write no event. */
function standIn(position: number): Pending {
  const operation = { kind: 'result', name: '', read: () => undefined } as const
  const settle = (): void => {}
  const scope = createScope(null)
  return {
    position,
    turn: 0,
    nth: 0,
    operation,
    issuedAt: 0,
    resolve: settle,
    reject: settle,
    scope,
    promise: null,
  }
}

function prepareNext(state: RunState, standing: Standing): Unit | null {
  const plan = planUnit(standing)
  switch (plan.do) {
    case 'write':
      return writeDrafts(state, state.outbox.send())
    case 'park':
      return park(state, plan.wakeAt)
    case 'hand-over':
      return handOver(state)
    case 'wait':
      arm(state, plan.until, standing.now)
      return null
    case 'look-again':
      state.ready()
      return null
    default:
      return unreachable(plan)
  }
}

function arm(state: RunState, wakeAt: number | null, now: number): void {
  state.callOff()
  if (wakeAt !== null)
    state.callOff = state.services.clock.after(Math.max(0, wakeAt - now), () => state.ready())
}

/** Hands out as many messages as there is room for drafts. Returns whether none is left that an operation would take. */
function handOut(state: RunState, to: 'all' | 'asks', before?: number): boolean {
  if (state.mailbox.isEmpty) return true
  const { mailbox, outbox, activities } = state
  const admits = (pending: Pending): boolean => outbox.admits(pending)
  if (activities.handOut(mailbox, to, { max: outbox.room, before, admits })) return true
  handOutEarly(state)
  return false
}

/** Hands out early answers, which must be seen before their ask is opened. */
function handOutEarly({ activities, mailbox }: RunState): void {
  activities.handOut(mailbox, 'unasked', { max: Number.POSITIVE_INFINITY })
}

/** Writes while operations are starting. Hands out no messages except early answers, and neither times out nor parks. */
function prepareWhileOpening(state: RunState): Unit | null {
  if (state.ending !== null) return null
  if (!state.mailbox.isEmpty) handOutEarly(state)
  if (!state.outbox.isEmpty && !state.outbox.isHeldBack) return writeDrafts(state, state.outbox.send())
  return state.isHandedOver && !state.isSuspect && !state.activities.isWorking ? handOver(state) : null
}

function park(state: RunState, wakeAt: number | null): Unit {
  const { outbox, activities, cancelled, continuation } = state
  const drafts = outbox.send()
  if (!outbox.isEmpty) return writeDrafts(state, drafts)
  const waiting = activities.describe(continuation.notes)
  const info = cancelled === null ? { waiting } : { waiting, cancelled }
  return write(state, { events: eventsOf(drafts), drafts, next: { do: 'park', wakeAt }, info })
}

function handOver(state: RunState): Unit {
  const next = { do: 'park', wakeAt: state.services.time.now() } as const
  return write(state, { events: [], drafts: [], next, info: null })
}

/** Keeps the run. Drafts that exceed the unit are decided again if the run may see more messages first. */
function writeDrafts(state: RunState, drafts: readonly Draft[]): Unit {
  const cancel = state.outbox.sendCancel()
  const unit = keep(state, drafts, cancel)
  decideAgain(state, state.outbox.dropStrict())
  return unit
}

/** Writes only the results of bodies that were running; then the run is parked. */
function prepareStop(state: RunState, bug: Bug): Unit | null {
  keepActs(state)
  // A decision that falls back on people must see an answer that arrived before its ask.
  handOut(state, 'asks')
  const drafts = state.outbox.send()
  if (drafts.length > 0) return keep(state, drafts)
  if (!state.activities.isWorking) state.moves.onStopped(bug)
  return null
}
