import { isCausedByCancel } from '../../authoring/cancel.ts'
import type { ContinueRequest } from '../../authoring/generations/continue-as.ts'
import type { ProcedureOperation } from '../../authoring/operations.ts'
import { isBug } from '../../errors/bug.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import { rounds } from '../../host/rounds.ts'
import type { Completed, Decision, Failed, Waiting } from '../../kernel/decision.ts'
import type { Pending } from '../../kernel/operation.ts'
import { hasRunUndos } from '../../runs/cut.ts'
import { cancelWith } from './cancelling.ts'
import type { InputRefused } from './continuation.ts'
import { diagnoseDifference, diagnoseForeignAwait } from './diagnose.ts'
import {
  completeChecked,
  completeWith,
  type Ending,
  failReturned,
  failWith,
  reportFailure,
} from './ending.ts'
import { findCallSite } from './find-call-site.ts'
import { continueWith } from './generations.ts'
import { attempt, guard, leave, leaveFor, leaveWithoutCode, stopAt } from './leaving.ts'
import { readAgain } from './loading.ts'
import { endFull, isFull } from './log-limits.ts'
import type { Opening } from './opening.ts'
import { beginAll, beginMore, close, takeHeld } from './operations.ts'
import { quarantinedFor, stoppedBy, unfitInput, unreadFor } from './park-with-error.ts'
import type { RunState } from './state.ts'
import { placesOf, unreadQuestions } from './unread-questions.ts'
import { warnOfMove } from './warnings.ts'

// Delivers events to the procedure, and decides what follows from what it does.

/** Work of deciding, in rows. */
const workOfDecide = 2

/** Delivers new events of the log, a few at a time. */
export function deliver(state: RunState, events: readonly LogEvent[]): void {
  const { isOver, continuation } = state
  if (isOver) return
  state.moveTo('moving')
  const most = state.services.slices.drafts
  if (events.length <= most) return continuation.deliver(events, () => onDelivered(state))
  continuation.deliver(events.slice(0, most), () => deliver(state, events.slice(most)), true)
}

/** Decides once the round has room: the turns of many runs may end in the same round. */
function onDelivered(state: RunState): void {
  const entered = rounds.enter(workOfDecide)
  if (entered === undefined) decide(state)
  else void entered.then(() => decide(state))
}

/** Decides what the run does next, once everything is delivered and drained. */
export function decide(state: RunState): void {
  const { isOver, bug, continuation } = state
  if (isOver) return
  if (bug !== null) return stopAt(state, bug)
  continuation.decide((decision) => onDecided(state, decision))
}

/** Handles that the procedure has moved outside a turn. */
export function onForeign(state: RunState): void {
  state.movedOutside = true
  if (state.phase === 'still') decide(state)
  else if (state.phase === 'parked') forgetMove(state)
}

/** Drops a parked run that has moved: it no longer is where its log says. */
export function forgetMove(state: RunState): void {
  state.moves.onGone()
  state.continuation.decide((decision) => {
    if (decision.state === 'foreign-await') warnOfMove(state.services, state.id, decision)
  })
}

function onDecided(state: RunState, decision: Decision<ProcedureOperation>): void {
  if (state.isOver) return
  if (state.bug !== null) return stopAt(state, state.bug)
  switch (decision.state) {
    case 'waiting':
      return waitOrWithhold(state, decision)
    case 'completed':
      state.hasReturned = true
      // It has nothing left to write, and code that waits for that has to check again.
      state.moves.onReady()
      return onCompleted(state, decision)
    case 'failed':
      return onFailed(state, decision)
    case 'nondeterminism':
      return leaveFor(state, () =>
        diagnoseDifference(state.services, state.replayed, decision, state.parksBugs),
      )
    case 'foreign-await':
      return leaveFor(state, () => diagnoseForeignAwait(state.services, state.replayed, decision))
    case 'unreadable':
      return leave(state, unreadFor(state.id, `the result at position ${decision.position}`, decision.error))
    case 'damaged':
      return leave(state, quarantinedFor(state.id, decision.what))
    case 'stopped':
      return leaveFor(state, async () => stoppedBy(state.id, decision.error))
  }
}

/** Waits for the operations of a decision, or first records the branches on which they depend. */
function waitOrWithhold(state: RunState, decision: Waiting<ProcedureOperation>): void {
  const before = state.withheld
  if (before === null && !state.continuation.branches.areUnwritten)
    return void guard(state, () => wait(state, decision.issued, decision.closed))
  state.withheld = {
    state: 'waiting',
    issued: [...(before?.issued ?? []), ...decision.issued],
    closed: [...(before?.closed ?? []), ...decision.closed],
  }
  state.moveTo('still')
  state.ready()
}

/** Waits for the operations of a decision whose branches are recorded now. */
export function waitForWithheld(state: RunState): void {
  const { issued, closed } = state.withheld as Waiting<ProcedureOperation>
  state.withheld = null
  guard(state, () => wait(state, issued, closed))
}

function wait(
  state: RunState,
  issued: readonly Pending<ProcedureOperation>[],
  closed: readonly Pending<ProcedureOperation>[],
): void {
  if (isFull(state)) return end(state, endFull(state), closed)
  close(state, closed)
  beginAll(state, state.held.length === 0 ? issued : [...takeHeld(state), ...issued])
  if (state.bug !== null) return stopAt(state, state.bug)
  if (state.isOver) return
  state.begunUpTo = state.continuation.turn
  state.moveTo('still')
  beginMore(state)
}

/** Delivers the events held back until all operations have started. */
export function onBegun(state: RunState, { held }: Opening): void {
  state.opening = null
  if (held.events.length > 0) goOn(state, held.events, held.from)
  else if (state.movedOutside && state.ending === null) decide(state)
  else state.ready()
}

/** Handles an invalid input. Before the first turn it ends the run; in a longer log the code must have changed. */
export function refuseInput(state: RunState, refused: InputRefused): void {
  if (state.isOver) return
  if (state.log.length === 1) end(state, failWith(new PawlError('input-invalid', refused), []))
  else if (state.isCancelled) leaveWithoutCode(state)
  else leave(state, unfitInput(state.id, refused))
}

function onCompleted(state: RunState, decision: Completed<ProcedureOperation>): void {
  const questions = unreadQuestions(state, decision.left)
  if (questions.length === 0) return complete(state, decision)
  const found = placesOf(state, questions).then((unread) => {
    state.unread = unread
    complete(state, decision)
  })
  attempt(state, found)
}

function complete(state: RunState, decision: Completed<ProcedureOperation>): void {
  const { output, left, closed } = decision
  const request = findRequest(state, output)
  if (request instanceof PawlError) return end(state, failReturned(request, left), closed)
  if (request !== null)
    return attempt(
      state,
      continueWith(state, request, left).then((ending) => end(state, ending, closed)),
    )
  const schema = state.continuation.start.definition.output
  if (schema === undefined) end(state, completeWith(output, left), closed)
  else void completeChecked(schema, decision).then((ending) => end(state, ending, closed))
}

/** Returns the request to continue that the procedure has returned, or the error of one that it has not returned. */
function findRequest({ continuation }: RunState, output: unknown): ContinueRequest | PawlError | null {
  try {
    return continuation.requests.find(output)
  } catch (error) {
    if (PawlError.is(error, 'output-invalid')) return error
    throw error
  }
}

/** Fails the run. If the error of a failed operation has no location and a log line will show it, it is looked up. */
function onFailed(state: RunState, { error, position, left, closed }: Failed<ProcedureOperation>): void {
  if (state.parksBugs && isBug(error)) return stopAt(state, { error, position: null })
  state.hasReturned = true
  if (state.cancelled !== null && isCausedByCancel(error))
    return end(state, cancelWith(state.cancelled.reason, left), closed)
  const ending = failWith(error, left)
  const isRolledBack = hasRunUndos(state.continuation.rollback)
  const report = reportFailure(state.id, state.claimed.procedure, ending.failure, { position, isRolledBack })
  state.report = report
  if (report.position === undefined || !state.services.reports.isLineDue(report))
    return end(state, ending, closed)
  const found = findCallSite(state.services, state.replayed, report.position).then((at) => {
    state.report = at === '' ? report : { ...report, at }
    end(state, ending, closed)
  })
  attempt(state, found)
}

function end(state: RunState, ending: Ending, closed: readonly Pending<ProcedureOperation>[] = []): void {
  if (state.isOver) return
  state.ending = ending
  // Once the procedure has returned or thrown, a cancel changes nothing.
  state.returnCancel()
  guard(state, () => {
    close(state, closed)
    // Open asks stay open until the end is written: an answer before that counts.
    beginAll(
      state,
      ending.left.filter(({ position }) => state.continuation.notes.isAsked(position)),
    )
    if (state.isOver) return
    state.moveTo('still')
    beginMore(state)
  })
}

/** Delivers events, which are in the log from `from` on; in tests by a replay of the whole log. */
export function goOn(state: RunState, events: readonly LogEvent[], from: number): void {
  state.outbox.onDelivered()
  if (state.services.replay === 'when-needed') deliver(state, events)
  else replay(state, from)
}

/** Delivers the whole log to a new continuation. */
export function replay(state: RunState, newFrom?: number): void {
  state.moveTo('moving')
  void readAgain(state, async () => {
    await state.continuation.replay(state.log, newFrom)
    decide(state)
  })
}
