import { topics } from '../../base/notifier.ts'
import { explain, listIssues, showFailure } from '../../errors/catalogue.ts'
import type { ErrorDetails } from '../../errors/error-details.ts'
import { failureOf, type MarkRecord, recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { isUnread, LogDamaged, WrittenLater } from '../../events/codec.ts'
import { encodeRecord } from '../../events/payload.ts'
import { findThrowSite } from '../../host/call-site.ts'
import type { QuarantineCause, RunKey } from '../../ports/store/runs.ts'
import { type RetryPolicy, retrying } from '../retrying.ts'
import type { WorkerServices } from '../services.ts'

/** Delay before writing a mark is retried. */
const markAgainMs = 1_000

/** Why a run is parked until a person or a deploy fixes it. */
export interface Reason {
  readonly mark: 'stuck' | 'quarantined'
  /** Only for a quarantine. */
  readonly cause?: QuarantineCause
  readonly error: PawlError
  /** For the log line: the cause, the location in the author's code if known, and the remedy. */
  readonly why: string
  readonly at?: string | undefined
  readonly remedy: string
  /** The internal error, if Pawl itself failed. */
  readonly fault?: unknown
}

/** Creates the reason for a bug in the procedure, which the next deploy may fix. `at`: its location, or ''. */
export function brokenBy(run: string, bug: unknown, at: string): Reason {
  const cause = failureOf(recordFailure(bug))
  const details = { run, cause, at }
  const error = new PawlError('procedure-broken', details, { cause: bug })
  const { remedy } = explain('procedure-broken', details)
  return { mark: 'stuck', error, why: showFailure(cause), remedy, ...siteOf(at) }
}

/** Creates the reason for code that no longer matches the log. */
export function divergedBy(
  run: string,
  details: ErrorDetails['nondeterminism'],
  overrides: { readonly cause?: unknown } = {},
): Reason {
  const { what, remedy } = explain('nondeterminism', details)
  const why = `it does not match its log: ${what.replace(/^At/, 'at')}`
  const error = new PawlError('nondeterminism', details, {
    ...overrides,
    what: `Run ${run} does not match its log: ${what.replace(/^At/, 'at')}`,
  })
  return { mark: 'stuck', error, why, remedy, ...siteOf(details.at) }
}

/** Creates the reason for code that no longer has the branch of a run. */
export function stoppedBy(run: string, error: unknown): Reason {
  if (!PawlError.is(error, 'version-gone')) throw error
  const { what, remedy } = explain('version-gone', error.details)
  const why = what.replace(`Run ${run} is`, 'it is').replace(/\.$/, '')
  return { mark: 'stuck', error, why, remedy, ...siteOf(findThrowSite(error) ?? '') }
}

/** Creates the reason for a foreign await. `at`: where the last operation before it was issued. */
export function foreignAwait(details: ErrorDetails['foreign-await'], at: string): Reason {
  const { after, what } = details
  const why = `it waits for something that does not come from its ctx, after ${after}: ${what}`
  const { remedy } = explain('foreign-await', details)
  return { mark: 'stuck', error: new PawlError('foreign-await', details), why, remedy, ...siteOf(at) }
}

/** Creates the reason for an input that matched the original code, but not the current one. */
export function unfitInput(run: string, details: ErrorDetails['input-invalid']): Reason {
  const misfit = `input does not match the input schema of the current code: ${listIssues(details)}`
  const sentences = {
    what: `Run ${run} is stuck: its ${misfit}.`,
    next: 'Nothing was written; it resumes once the schema accepts the input again.',
    remedy: 'Make the schema accept the input, or give the changed procedure a new version.',
  }
  const error = new PawlError('input-invalid', details, sentences)
  return { mark: 'stuck', error, why: `its ${misfit}`, remedy: sentences.remedy }
}

/** Creates the reason for a quarantine. `fault`: the internal error, if Pawl itself failed. */
export function quarantinedFor(
  run: string,
  why: string,
  cause: QuarantineCause = 'damage',
  fault?: unknown,
): Reason {
  const details = { run, reason: why }
  const { remedy } = explain('run-quarantined', details)
  const error = new PawlError('run-quarantined', details, fault === undefined ? {} : { cause: fault })
  return { mark: 'quarantined', cause, error, why, remedy, fault }
}

/** Creates the reason for data of a later version. They are not damaged: the run waits, stuck, for a worker that can read them. */
export function unreadFor(run: string, what: string, unread: Error): Reason {
  const why = `${what} cannot be read: ${unread.message}`
  if (!(unread instanceof WrittenLater || unread.cause instanceof WrittenLater))
    return quarantinedFor(run, why)
  const sentences = {
    what: `Run ${run} was written by a later version of Pawl: ${why}.`,
    next: "It is parked as 'stuck' and nothing was written; a worker of that version resumes it.",
    remedy: 'Deploy the version that wrote it.',
  }
  return {
    ...{ mark: 'stuck', why: `it was written by a later version of Pawl: ${why}`, remedy: sentences.remedy },
    error: new PawlError('run-quarantined', { run, reason: why }, sentences),
  }
}

/** Creates the reason for data of a run that are damaged, that a later version wrote, or on which Pawl fails. */
export function damagedBy(run: string, error: unknown, what: string): Reason {
  if (error instanceof LogDamaged) return quarantinedFor(run, error.message)
  if (isUnread(error)) return unreadFor(run, what, error)
  const why = `internal error while processing the run: ${(error as Error).message}`
  return quarantinedFor(run, why, 'fault', error)
}

function siteOf(at: string): Pick<Reason, 'at'> {
  return at === '' ? {} : { at }
}

interface ParkedRun {
  readonly key: RunKey
  readonly id: string
  readonly procedure: string
  readonly epoch: number
  /** The number up to which its messages are known. */
  readonly seen: number
  /** When it becomes due although nothing was fixed. */
  readonly wakeAt: number | undefined
}

/**
 * Marks the run in the store, with retries, unless it has another owner by then. Calls `onGone` in either case.
 * Returns a function that stops trying.
 */
export function parkWithError(
  { store, worker, logger, clock, time, notifier, reports }: WorkerServices,
  run: ParkedRun,
  { mark, cause, error, why, at, remedy, fault }: Reason,
  onGone: () => void,
): () => void {
  const record: MarkRecord = { ...recordFailure(error), at: at ?? '', triedAt: time.now() }
  const reason = encodeRecord(record, 'reason')
  let callOff = (): void => {}
  let isGivenUp = false
  const policy: RetryPolicy = {
    afterMs: markAgainMs,
    isOver: () => isGivenUp,
    isRetried(fault) {
      logger.error(`Run "${run.id}" could not be marked as ${mark}; retrying`, { error: fault })
      return true
    },
    onWait(given) {
      callOff = given
    },
  }
  const write = (): Promise<boolean> =>
    store.runs.mark(worker, run.key, run.epoch, mark, reason, cause, run.seen, run.wakeAt)
  void retrying(clock, policy, write).then((isMarked) => {
    if (isGivenUp) return
    const { id, procedure } = run
    const outcome = `is ${mark}` as const
    if (isMarked)
      reports.add({ run: id, procedure, outcome, code: error.code, at, cause: why, remedy, error: fault })
    else logger.warn(`Run "${id}" has another owner, which decides whether it is ${mark}: ${why}`)
    onGone()
    notifier.notify(topics.end(run.id))
    notifier.notify(topics.feed)
  })
  return () => {
    isGivenUp = true
    callOff()
  }
}
