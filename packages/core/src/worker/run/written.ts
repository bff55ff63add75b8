import { topics } from '../../base/notifier.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Effect, RefusedWhy, Unit, UnitOutcome } from '../../ports/store/log.ts'
import { notifyOfAsks, reportUndos } from './ended.ts'
import { type NextGeneration, nextGeneration } from './generations.ts'
import { noteWritten } from './holding.ts'
import { guard } from './leaving.ts'
import { isFull, warnOfLength } from './log-limits.ts'
import { beginMore, decideAgain } from './operations.ts'
import { consumedBy } from './outbox.ts'
import type { RunState } from './state.ts'

// What follows from the outcome of a unit.

/** What a run does after a unit was written. */
export type Next =
  /** The store lacks messages that the run has seen. */
  | { readonly do: 'leave-forgotten' }
  | { readonly do: 'end' }
  /** The next generation has begun. */
  | { readonly do: 'continue'; readonly next: NextGeneration }
  | { readonly do: 'park'; readonly wakeAt: number | null }
  /** Delivers the whole log, which now has all that precedes the first turn. */
  | { readonly do: 'replay' }
  /** Delivers events, which are in the log from `from` on. */
  | { readonly do: 'deliver'; readonly events: readonly LogEvent[]; readonly from: number }
  /** Continues starting operations. */
  | { readonly do: 'begin-more' }
  /** Waits for the operations that were withheld until their branches were recorded. */
  | { readonly do: 'wait' }
  /** Decides, since the procedure has moved outside a turn. */
  | { readonly do: 'decide' }
  /** Looks for something to write. */
  | { readonly do: 'look' }

/** Takes in that a unit was written, and returns what the run does next. */
export function takeIn(state: RunState, unit: Unit, written: UnitOutcome & { readonly outcome: 'ok' }): Next {
  const { at, epoch, mail, parked } = written
  const { services, log, mailbox, claimed } = state
  services.time.learn(at)
  if (mail < unit.seen) return { do: 'leave-forgotten' }
  if (state.refusals > 0 && unit.strict) noteWritten(state, unit)
  const before = log.head
  const events = log.confirm(at, epoch)
  warnOfLength(state, log.length - events.length)
  state.outbox.confirm()
  state.observation?.written(unit, events)
  state.published?.confirm()
  state.continuation.branches.confirm()
  if (unit.effects.length > 0) mailbox.forget(consumedBy(unit.effects))
  if (events.length > 0 && claimed.tries > 0) state.moves.onProgress()
  if (unit.effects.length > 0) notifyOf(state, unit)
  reportUndos(state, events)
  state.noteCancelled()
  if (unit.next.do === 'end') return { do: 'end' }
  if (state.continues) return { do: 'continue', next: nextGeneration(state, events, unit) }
  for (const event of events) {
    if (event.type === 'settled' || event.type === 'withdrawn') state.activities.remove(event.position)
    else state.activities.find(event.position)?.onRecorded(event)
  }
  state.continuation.notes.add(events)
  if (parked && unit.next.do === 'park') {
    // A message that the park did not see has made the run due at once, whatever its wake-up time.
    const isDue = mailbox.seen > unit.seen || mailbox.isBehind
    return { do: 'park', wakeAt: isDue ? at : unit.next.wakeAt }
  }
  state.moveTo('still')
  mailbox.learn(mail)
  return goOn(state, events, before)
}

/** Who may wait for an effect. */
const awaitedBy: { readonly [Kind in Effect['do']]: 'people' | 'other runs' | 'callers' | null } = {
  'open-ask': 'people',
  'close-ask': null,
  consume: null,
  'create-run': 'other runs',
  send: 'other runs',
  reply: 'callers',
  'give-back': null,
  checkpoint: null,
  notify: 'people',
  expose: 'callers',
  'begin-generation': null,
  show: null,
}

function notifyOf({ id, services }: RunState, { effects }: Unit): void {
  const waiting = new Set(effects.map((effect) => awaitedBy[effect.do]))
  if (waiting.has('people')) notifyOfAsks(services.notifier, id)
  if (waiting.has('other runs')) services.tellOthers()
  if (waiting.has('callers')) services.notifier.notify(topics.talkOf(id))
}

function goOn(state: RunState, events: readonly LogEvent[], from: number): Next {
  if (state.withheld !== null) return { do: 'wait' }
  if (state.continuation.accepted !== null) return { do: 'replay' }
  const isSettled = events.some(({ type }) => type === 'settled' || type === 'cancelled')
  if (state.opening !== null) {
    if (isSettled) state.opening.hold(events, from)
    return { do: 'begin-more' }
  }
  // The end is still to be written, or the run has stopped: these are no longer awaited.
  if (state.ending !== null || state.bug !== null) return { do: 'look' }
  if (isSettled) return { do: 'deliver', events, from }
  if (events.length > 0 && isFull(state)) return { do: 'decide' }
  return { do: state.movedOutside ? 'decide' : 'look' }
}

/** Another run does not allow an effect: its draft is not written, and all others are. */
export function onRefused(state: RunState, item: number, why: RefusedWhy): void {
  const draft = state.outbox.draftOf(item)
  if (draft?.onRefused === undefined)
    throw new Error(`another run does not allow effect ${item} of a unit (${why})`)
  takeBack(state)
  guard(state, () => {
    if (state.isOver) return
    state.outbox.remove(draft)
    draft.onRefused?.(why)
    // Its place in the unit is free: operations may wait for that to start.
    beginMore(state)
  })
}

/** Returns the drafts of an unwritten unit to the next one, except the strict ones, which are decided again. */
export function takeBack(state: RunState): void {
  if (state.phase !== 'writing') return
  state.moveTo('still')
  state.cancelling = 0
  state.tellingUndos = 0
  state.continues = false
  state.log.takeBack()
  const refused = state.outbox.takeBack()
  state.published?.takeBack(state.services.time.now())
  guard(state, () => decideAgain(state, refused))
  beginMore(state)
}
