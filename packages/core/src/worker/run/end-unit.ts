import type { Operation, Pending } from '../../kernel/operation.ts'
import type { Effect, Unit } from '../../ports/store/log.ts'
import type { Draft } from '../activities/activity.ts'
import { type Ending, rollbackOf } from './ending.ts'
import { composeNext } from './generations.ts'
import { tellOfSkippedUndos } from './notices.ts'
import { eventsOf } from './outbox.ts'
import { cancelAtEnd, tellOfEnd, watchTopic } from './relatives.ts'
import type { RunState } from './state.ts'
import { answerAtEnd } from './unanswered.ts'
import { endParts, withdrawal } from './unit.ts'
import { keep, write } from './write-unit.ts'

/** Maximum number of children that one unit cancels. */
const maxCancelled = 200

/** Returns the next unit of a run that ends: what has to be recorded before, then the end. Null while an answer is being checked. */
export function prepareEnd(state: RunState, ending: Ending, isHandedOut: boolean): Unit | null {
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
  noteLateSteps(state, sent)
  if (!outbox.isEmpty || !isHandedOut) return keep(state, sent)
  if (ending.next !== undefined) return continueRun(state, ending, ending.next.input, sent)
  const children = continuation.notes.children.slice(state.cancelledChildren)
  if (children.length > maxCancelled) return cancelSome(state, children.slice(0, maxCancelled), sent)
  const withdrawn = withdrawalsOf(state, asks)
  const late = [...(state.lateSteps ?? [])].map(({ operation }) => operation.name)
  const past = { rollback: rollbackOf(ending, continuation.rollback, late), cancelled }
  const parts = endParts(ending, sent, withdrawn, mailbox.signals, past)
  const told = [...effectsOfEnd(state, ending, children), ...tellOfSkippedUndos(state, past.rollback)]
  const answers = answerAtEnd(state, ending, sent)
  if (told.length === 0 && answers.length === 0) return write(state, parts)
  return write(state, { ...parts, effects: [...told, ...answers] })
}

/** Notes the undos that no delivery registers. Results that are sent again are the same. */
function noteLateSteps(state: RunState, sent: readonly Draft[]): void {
  for (const { type, failed, pending } of sent) {
    if (type !== 'settled' || failed === true || pending.operation.readLate === undefined) continue
    state.lateSteps ??= new Set()
    state.lateSteps.add(pending)
  }
}

/** Whether a result is recorded although the procedure has returned. What a next generation may want, it finds in its mail. */
function isKept({ operation: { kind } }: Pending<Operation>, { next }: Ending): boolean {
  return kind !== 'spawn' && kind !== 'update' && (next === undefined || kind !== 'signal')
}

function continueRun(state: RunState, ending: Ending, input: unknown, sent: readonly Draft[]): Unit {
  const withdrawn = withdrawalsOf(state, state.activities.asks)
  state.moveTo('writing')
  state.continues = true
  state.callOff()
  return composeNext(state, input, sent, withdrawn, answerAtEnd(state, ending, sent))
}

/** Withdraws the open asks that people see. */
function withdrawalsOf(
  { continuation: { notes } }: RunState,
  asks: readonly { readonly pending: Pending<Operation> }[],
): readonly Draft[] {
  return asks.flatMap(({ pending }) => {
    const { position } = pending
    return notes.isAsked(position) ? [withdrawal(pending, notes.askSlotAt(position))] : []
  })
}

/** Cancels some of the children of a run that ends, before its last unit. */
function cancelSome(state: RunState, children: readonly string[], drafts: readonly Draft[]): Unit {
  state.cancelling = children.length
  const effects = children.map((id) => cancelAtEnd(id, state.id))
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
  return children.length === 0 ? told : [...children.map((child) => cancelAtEnd(child, id)), ...told]
}
