import { docsPage } from '../../base/docs.ts'
import { topics } from '../../base/notifier.ts'
import { isBug } from '../../errors/bug.ts'
import type { LogEvent } from '../../events/event.ts'
import { hasRunUndos } from '../../runs/cut.ts'
import type { WorkerServices } from '../services.ts'
import { describeUnbegun, type Ending, reportFailure, reportUndo } from './ending.ts'
import type { RunState } from './state.ts'
import { warnOfUnread } from './unread-questions.ts'

/** Logs what an ended run leaves behind, and why it failed. */
export function reportEnd({ logger, reports }: WorkerServices, state: RunState, ending: Ending): void {
  const { id, claimed, report, continuation, mailbox } = state
  // Bugs among them were reported when they were found.
  for (const reason of continuation.unhandled.filter((one) => !isBug(one)))
    logger.warn(`Run "${id}" has ended with an unhandled rejection`, { error: reason })
  for (const key of mailbox.earlyKeys)
    logger.warn(`Run "${id}" has ended with an answer to "${key}", which it never asked`)
  warnOfUnfinished(state, 'ended')
  if (ending.state === 'cancelled') return logger.info(`run "${id}" was cancelled`)
  if (ending.failure !== null)
    return reports.add(
      report ??
        reportFailure(id, claimed.procedure, ending.failure, {
          isRolledBack: hasRunUndos(continuation.rollback),
        }),
    )
  warnOfUnbegun(state, ending, 'ended')
  warnOfUnread(state, 'ended')
}

/** Logs the undos that have failed, once their failures are in the log, and the children that the rollback passes over. */
export function reportUndos(state: RunState, events: readonly LogEvent[]): void {
  const { id, claimed, services, continuation } = state
  for (const event of events) {
    if (event.kind !== 'undo') continue
    warnOfBareChildren(state)
    if (event.failed) {
      const { owner, asksOnFailedUndo } = continuation.start.definition
      const isAsked = owner !== undefined && asksOnFailedUndo === true
      services.reports.add(reportUndo(id, claimed.procedure, event, isAsked))
    }
  }
}

/** Warns of completed children behind which a run that rolls back has registered no undo: once for each, however many runs do so. */
function warnOfBareChildren({ id, claimed: { procedure }, services, continuation }: RunState): void {
  for (const child of continuation.rollback.bare ?? noNames)
    services.remarks.warn(
      `completed child ${child} of ${procedure}`,
      `Run "${id}" rolls back, and what its completed child "${child}" did stays done: the undos of a child do not run when its parent rolls back. Register an undo behind the call, with ctx.onRollback. See ${docsPage('guides/undoing')}`,
      { run: id, child },
    )
}

const noNames: readonly string[] = []

/** Logs what a run that continues with an empty log leaves behind. */
export function reportContinued({ logger }: WorkerServices, state: RunState): void {
  const { id, continuation, ending } = state
  for (const reason of continuation.unhandled.filter((one) => !isBug(one)))
    logger.warn(`Run "${id}" has continued with an unhandled rejection`, { error: reason })
  const late = [...(state.lateSteps ?? [])].map(({ operation }) => operation.name)
  const undos = [...continuation.rollback.left, ...late]
  if (undos.length > 0)
    logger.warn(`Run "${id}" has continued with ${undos.length} registered undos, which are forgotten`, {
      undos,
    })
  warnOfUnfinished(state, 'continued')
  warnOfUnbegun(state, ending as Ending, 'continued')
  warnOfUnread(state, 'continued')
}

function warnOfUnfinished({ id, unfinishedUpdates: names, services }: RunState, what: string): void {
  if (names.length === 0) return
  const handlers = names.map((name) => `"${name}"`).join(', ')
  services.logger.warn(
    `Run "${id}" has ${what} while its handlers of updates were at work: ${handlers}. Their callers get 'update-unfinished'. Wait for the handlers before the procedure returns`,
  )
}

function warnOfUnbegun(
  { id, continuation, begunUpTo, services }: RunState,
  ending: Ending,
  what: string,
): void {
  // After a replay here, only the operations of the last turn are certain not to have started earlier.
  const unbegun = describeUnbegun(ending.left, begunUpTo ?? continuation.turn - 1)
  if (unbegun !== null)
    services.logger.warn(
      `Run "${id}" has ${what} without ${unbegun}: issued in its last turn, never started. Add the missing await`,
    )
}

export function notifyOfEnd({ notifier }: WorkerServices, run: string): void {
  notifier.notify(topics.end(run))
  notifier.notify(topics.talkOf(run))
  notifyOfAsks(notifier, run)
}

/** Notifies waits for asks of a run. */
export function notifyOfAsks(notifier: WorkerServices['notifier'], run: string): void {
  notifier.notify(topics.asksOf(run))
  notifier.notify(topics.asks)
  notifier.notify(topics.feed)
}
