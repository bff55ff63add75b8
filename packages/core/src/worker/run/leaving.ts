import { cancelTopic, endWithoutCode, noteOf, recordRequest, recordTimeout } from './cancelling.ts'
import type { Bug } from './diagnose.ts'
import { isAct } from './ending.ts'
import { damagedBy, parkWithError, quarantinedFor, type Reason } from './park-with-error.ts'
import { cancelAtEnd, tellOfEnd, watchTopic } from './relatives.ts'
import type { RunState } from './state.ts'
import { answerAtEnd } from './unanswered.ts'

// Handles a run that cannot be executed here. Problems of its own data affect only this run: it is parked with the error,
// and other runs, whose units may be in the same transaction, continue.

/** Parks the run with an error. It has no effect from then on. */
export function leave(state: RunState, reason: Reason): void {
  if (state.isOver) return
  state.drop()
  state.moveTo('leaving')
  const { services, key, id, claimed, log, mailbox, moves } = state
  // At least those it was claimed with: otherwise a run that cannot be read would be due again at once.
  const seen = Math.max(mailbox.seen, claimed.mail)
  // A stuck run is cancelled by its own timeout: without its code, if that is not fixed by then.
  const { timeoutAt } = state.continuation
  const timesOut = reason.mark === 'stuck' && timeoutAt !== null && timeoutAt > services.time.now()
  const wakeAt = timesOut ? timeoutAt : undefined
  const run = { key, id, procedure: claimed.procedure, epoch: log.epoch, seen, wakeAt }
  state.stopMarking = parkWithError(services, run, reason, () => moves.onGone(wakeAt))
}

/** Parks the run because its data are damaged, a later version wrote them, or Pawl fails on them. */
export function leaveBroken(state: RunState, error: unknown, what: string): void {
  leave(state, damagedBy(state.id, error, what))
}

/** Parks the run because the store lacks messages that this continuation knows, for example after a failover. */
export function leaveForgotten(state: RunState): void {
  leave(state, quarantinedFor(state.id, 'the store has lost messages that it acknowledged'))
}

/** Parks the run once the diagnosis is known. Nothing is decided meanwhile. A cancelled run ends instead. */
export function leaveFor(state: RunState, diagnose: () => Promise<Reason>): void {
  if (state.isCancelled) return leaveWithoutCode(state)
  state.moveTo('moving')
  attempt(
    state,
    diagnose().then((reason) => {
      if (state.isOver) return
      if (state.isCancelled) leaveWithoutCode(state)
      else leave(state, reason)
    }),
  )
}

/** Ends a cancelled run whose procedure cannot continue: nothing is delivered any more. */
export function leaveWithoutCode(state: RunState): void {
  const { notes } = state.continuation
  state.returnCancel()
  for (const n of state.mailbox.taken) state.mailbox.giveBack(n)
  const request = notes.cancelled === null ? state.mailbox.take([cancelTopic]) : undefined
  const recorded = request === undefined ? (state.isOverdue ? recordTimeout() : null) : recordRequest(request)
  const { ending, compose } = endWithoutCode(state.continuation, recorded, state.services.time.now())
  state.activities.stop()
  state.opening = null
  state.ending = ending
  const reason = (notes.cancelled ?? (recorded === null ? null : noteOf(recorded, 0)))?.reason
  state.composeLast = (mailbox) => {
    const parts = compose(mailbox)
    const others = [
      ...notes.children.map((id) => cancelAtEnd(id, state.id)),
      ...tellOfEnd(state.id, ending, state.continuation.parent, state.mailbox.all(watchTopic), reason),
      ...answerAtEnd(state, ending, []),
    ]
    return { ...parts, effects: [...(parts.effects ?? []), ...others] }
  }
  state.moveTo('still')
  state.ready()
}

/** Runs a task and parks the run if it throws. */
export function guard<Result>(state: RunState, task: () => Result): Result | null {
  try {
    return task()
  } catch (error) {
    leaveBroken(state, error, 'an event or a message')
    return null
  }
}

/** Awaits a task and parks the run if it throws. */
export function attempt(state: RunState, task: Promise<void>): void {
  task.catch((error) => leaveBroken(state, error, 'an event or a message'))
}

/** Handles a misuse found in an operation, in any phase: a write in flight ends first. */
export function onMisuse(state: RunState, bug: Bug): void {
  if (state.isOver || state.ending !== null) return
  state.bug ??= bug
  keepActs(state)
  state.ready()
}

/** Stops the run at a bug: nothing is delivered or started any more. */
export function stopAt(state: RunState, bug: Bug): void {
  state.bug = bug
  guard(state, () => {
    keepActs(state)
    state.moveTo('still')
    state.ready()
  })
}

/** Keeps only running bodies and finished results; everything else is unchanged when the run is retried. */
export function keepActs(state: RunState): void {
  const { outbox, activities } = state
  state.opening = null
  outbox.keep(({ pending }) => isAct(pending))
  state.returnCancel()
  const { positions } = outbox
  activities.keep(
    ({ pending, activity }) =>
      isAct(pending) && (activity.busy === 'working' || positions.has(pending.position)),
  )
}
