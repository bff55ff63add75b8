import { unreachable } from '../../base/unreachable.ts'
import type { ForkPayload, RunInfo } from '../../events/payloads.ts'
import type { Operation, Pending } from '../../kernel/operation.ts'
import { createScope } from '../../kernel/scope.ts'
import type { Effect, Unit } from '../../ports/store/commit.ts'
import type { Message } from '../../ports/store/mail.ts'
import { consume, type Draft, type RunDraft } from '../activities/activity.ts'
import {
  cancelledEvent,
  cancelTopic,
  defaultGraceMs,
  noteOf,
  recordCancel,
  recordRequest,
  recordTimeout,
} from './cancelling.ts'
import type { Bug } from './diagnose.ts'
import { type Ending, rollbackOf } from './ending.ts'
import { composeNext } from './generations.ts'
import { guard, keepActs } from './leaving.ts'
import { isEndOfOther, positionOf } from './mailbox.ts'
import { decideAgain } from './operations.ts'
import { eventsOf } from './outbox.ts'
import type { Published } from './published.ts'
import { cancelChild, tellOfEnd, watchTopic } from './relatives.ts'
import type { RunState } from './state.ts'
import { answerAtEnd, refuseUndeclared } from './unanswered.ts'
import { composeUnit, earlier, endParts, planUnit, type Standing, type UnitParts } from './unit.ts'

/** How long a cancel waits for the author's checks of earlier messages: a check that never settles must not hold it back. */
const maxCheckMs = 5_000
/** Maximum number of children that one unit cancels. */
const maxCancelled = 200

/**
 * Returns the unit to write now; null if there is nothing to write. The run advances first, and then decides what to
 * write.
 */
export function prepareUnit(state: RunState): Unit | null {
  if (state.phase !== 'still' || state.mailbox.isBehind) return null
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

/**
 * Drafts a cancel that was requested, or whose time has come. Returns when the next one is due. Messages that came before a
 * request are recorded before it.
 */
function planCancel(
  state: RunState,
  now: number,
  isHandedOut: boolean,
  request: Message | undefined,
): number | null {
  const { outbox, mailbox, continuation } = state
  if (outbox.cancels) return null
  if (request !== undefined) {
    if (!isHandedOut) return null
    const { consumes } = outbox
    const isChecked = mailbox.taken.every((n) => n > request.n || consumes.has(n))
    state.cancelWaitsSince ??= now
    const givesUpAt = state.cancelWaitsSince + maxCheckMs
    if (!isChecked && givesUpAt > now) return givesUpAt
    outbox.addCancel(recordRequest(mailbox.take([cancelTopic]) as Message))
    return null
  }
  const { graceFrom, notes, start, timeoutAt } = continuation
  if (timeoutAt !== null && graceFrom === null && state.cancelled === null) {
    if (timeoutAt > now) return timeoutAt
    if (isHandedOut) outbox.addCancel(recordTimeout())
    return null
  }
  if (graceFrom === null || notes.isForced) return null
  const endsAt = graceFrom + (start.definition.graceMs ?? defaultGraceMs)
  if (endsAt > now) return endsAt
  outbox.addCancel(recordCancel({ forced: true }))
  return null
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
  if (state.activities.handOut(state.mailbox, to, state.outbox.room, before)) return true
  handOutEarly(state)
  return false
}

/** Hands out early answers, which must be seen before their ask is opened. */
function handOutEarly({ activities, mailbox }: RunState): void {
  activities.handOut(mailbox, 'unasked', Number.POSITIVE_INFINITY)
}

/** Writes while operations are starting. Hands out no messages except early answers, and neither times out nor parks. */
function prepareWhileOpening(state: RunState): Unit | null {
  if (state.ending !== null) return null
  if (!state.mailbox.isEmpty) handOutEarly(state)
  if (!state.outbox.isEmpty && !state.outbox.isHeldBack) return writeDrafts(state, state.outbox.send())
  return state.isHandedOver && !state.isSuspect && !state.activities.isWorking ? handOver(state) : null
}

function park(state: RunState, wakeAt: number | null): Unit {
  const { outbox, activities, cancelled } = state
  const drafts = outbox.send()
  if (!outbox.isEmpty) return writeDrafts(state, drafts)
  const waiting = activities.describe()
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

function prepareEnd(state: RunState, ending: Ending, isHandedOut: boolean): Unit | null {
  const { outbox, continuation, mailbox, cancelled } = state
  const { asks } = state.activities
  // Nothing reads an answer any more, so its check is not awaited.
  for (const { activity } of asks) if (activity.busy) activity.close?.()
  if (asks.some(({ activity }) => activity.busy)) return null
  // Results that arrived in time are recorded; asks that are not open yet, and results that are not awaited, are not.
  const sent = outbox
    .send(
      ({ type, strict, pending }) =>
        strict === undefined &&
        (type === 'withdrawn' || type === null || (type === 'settled' && isKept(pending, ending))),
    )
    // The procedure has ended without waiting for a no, so it is not cancelled by one.
    .map(({ cancels: _, ...draft }) => draft)
  if (!outbox.isEmpty || !isHandedOut) return keep(state, sent)
  if (ending.next !== undefined) return continueRun(state, ending, ending.next.input, sent)
  const children = continuation.notes.children.slice(state.cancelledChildren)
  if (children.length > maxCancelled) return cancelSome(state, children.slice(0, maxCancelled), sent)
  const open = asks.map(({ pending }) => pending)
  const asked = open.filter(({ position }) => continuation.notes.isAsked(position))
  const past = { rollback: rollbackOf(ending, continuation.rollback), cancelled }
  const parts = endParts(ending, sent, asked, mailbox.signals, past)
  const told = effectsOfEnd(state, ending, children)
  const answers = answerAtEnd(state, ending, sent)
  if (told.length === 0 && answers.length === 0) return write(state, parts)
  return write(state, { ...parts, effects: [...told, ...answers] })
}

/** Whether a result is recorded although the procedure has returned. What a next generation may want, it finds in its mail. */
function isKept({ operation: { kind } }: Pending<Operation>, { next }: Ending): boolean {
  return kind !== 'spawn' && kind !== 'update' && (next === undefined || kind !== 'signal')
}

function continueRun(state: RunState, ending: Ending, input: unknown, sent: readonly Draft[]): Unit {
  const { asks } = state.activities
  const open = asks.map(({ pending }) => pending)
  const asked = open.filter(({ position }) => state.continuation.notes.isAsked(position))
  state.phase = 'writing'
  state.continues = true
  state.callOff()
  return composeNext(state, input, sent, asked, answerAtEnd(state, ending, sent))
}

/** Cancels some of the children of a run that ends, before its last unit. */
function cancelSome(state: RunState, children: readonly string[], drafts: readonly Draft[]): Unit {
  state.cancelling = children.length
  const effects = children.map((id) => cancelChild(id, `run ${state.id} has ended`))
  return write(state, { events: eventsOf(drafts), drafts, effects, next: { do: 'keep' }, info: null })
}

/** What the last unit of a run changes in other runs. */
function effectsOfEnd(
  { id, continuation, mailbox, cancelled }: RunState,
  ending: Ending,
  children: readonly string[],
): readonly Effect[] {
  const watches = mailbox.isEmpty ? [] : mailbox.all(watchTopic)
  const told = tellOfEnd(id, ending, continuation.parent, watches, cancelled?.reason)
  return children.length === 0
    ? told
    : [...children.map((child) => cancelChild(child, `run ${id} has ended`)), ...told]
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

/** Adds what the run shows of itself. */
function publish(state: RunState, published: Published, parts: UnitParts): UnitParts {
  const { cancelled, services } = state
  const current = (): RunInfo => ({ waiting: [], ...(cancelled === null ? {} : { cancelled }) })
  const { effects, info } = published.take(parts.info, current, services.time.now())
  return { ...parts, info, effects: [...(parts.effects ?? []), ...effects] }
}

function keep(state: RunState, drafts: readonly Draft[], cancel: RunDraft | null = null): Unit {
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

function write(state: RunState, given: UnitParts): Unit {
  const parts = state.published === null ? given : publish(state, state.published, given)
  state.phase = 'writing'
  state.callOff()
  const { branches, generation } = state.continuation
  const marks = branches.draft()
  const marked = marks.length === 0 ? parts : { ...parts, events: [...marks, ...parts.events] }
  const info = parts.info === null ? null : withOrigin(parts.info, generation.number, state.continuation.fork)
  return composeUnit(state.log, state.mailbox.seen, info === parts.info ? marked : { ...marked, info })
}

/** Adds what lists show of the origin of the log. */
function withOrigin(info: RunInfo, generation: number, fork: ForkPayload | undefined): RunInfo {
  if (generation === 1 && fork === undefined) return info
  return {
    ...info,
    ...(generation === 1 ? {} : { generation }),
    ...(fork === undefined ? {} : { forkedFrom: { run: fork.run, position: fork.position } }),
  }
}
