import { topics } from '../../base/notifier.ts'
import { isBug } from '../../errors/bug.ts'
import type { RunReport } from '../run-reports.ts'
import type { WorkerServices } from '../services.ts'
import type { Continuation } from './continuation.ts'
import { describeUnbegun, type Ending, reportFailure } from './ending.ts'
import type { Mailbox } from './mailbox.ts'

/** A run whose end is in the log. */
export interface EndedRun {
  readonly id: string
  readonly procedure: string
  readonly ending: Ending
  readonly report: RunReport | null
  /** The last turn whose operations were begun here; null: none were. */
  readonly begunUpTo: number | null
  readonly continuation: Continuation
  readonly mailbox: Mailbox
}

/** Logs what an ended run leaves behind, and why it failed. */
export function reportEnd({ logger, reports }: WorkerServices, run: EndedRun): void {
  const { id, procedure, ending, report, continuation, mailbox } = run
  // Bugs among them were reported when they were found.
  for (const reason of continuation.unhandled.filter((one) => !isBug(one)))
    logger.warn(`Run "${id}" has ended with an unhandled rejection`, { error: reason })
  for (const key of mailbox.earlyKeys)
    logger.warn(`run "${id}" has ended, and somebody has answered "${key}", which nobody was asked`)
  if (ending.failure !== null) return reports.add(report ?? reportFailure(id, procedure, ending.failure))
  // Of what a replay brought here at once only the last turn cannot have begun in another life.
  const unbegun = describeUnbegun(ending.left, run.begunUpTo ?? continuation.turn - 1)
  if (unbegun !== null)
    logger.warn(
      `run "${id}" has ended without ${unbegun}: issued in its last turn, never begun. Is an await missing?`,
    )
}

export function notifyOfEnd({ notifier }: WorkerServices, run: string): void {
  notifier.notify(topics.end(run))
  notifyOfAsks(notifier, run)
}

/** The asks of a run have changed. */
export function notifyOfAsks(notifier: WorkerServices['notifier'], run: string): void {
  notifier.notify(topics.asksOf(run))
  notifier.notify(topics.asks)
  notifier.notify(topics.feed)
}
