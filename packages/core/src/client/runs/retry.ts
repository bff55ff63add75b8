import { readOptions } from '../../checks/spec.ts'
import { type FailureRecord, reviveFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode } from '../../events/payload.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { EndState } from '../../ports/store/runs.ts'
import type { RepeatPreview } from '../../runs/preview.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../find-run.ts'
import { observeAct } from '../observed.ts'
import { previewFailed, retryFailed } from './retry-failed.ts'

/** The crash count from which a run was quarantined before causes were stored; no other cause reached it. */
const crashesBeforeCauses = 7

/**
 * Makes a stuck run due, releases a quarantined run whose log is intact, and continues a failed run before its failure.
 * Does nothing for a live run without a mark: it resumes by itself.
 * @throws PawlError 'run-not-found', 'run-ended', 'run-quarantined', 'run-rolled-back', 'run-live'
 */
export function retryRun(connection: Connection, id: string, given: unknown): Promise<void> {
  const { by } = readOptions('of retry', given, actOptions)
  return observeAct(connection, { verb: 'retry', run: id, by }, () => retry(connection, id, by))
}

async function retry(connection: Connection, id: string, by: string | undefined): Promise<void> {
  const store = await connection.store()
  for (;;) {
    const row = await findRun(connection, id)
    if (row.state === 'failed') {
      if (await retryFailed(connection, row, by)) return
      continue
    }
    if (row.state !== 'live') throw refuseEnded(id, row.state)
    // An engine that owns a marked run is already retrying it.
    if (row.mark === 'none' || row.owned) return
    if (row.mark === 'quarantined' && !isReleasable(row)) throw refuseDamaged(row)
    if (await store.runs.retry(row.run, row.mark)) break
    // Its mark has changed since it was read.
  }
  connection.localWorker?.onDue()
}

/** Says what {@link retryRun} would do again. Changes nothing. @throws as it does */
export async function previewRetry(connection: Connection, id: string): Promise<RepeatPreview> {
  let row = await findRun(connection, id)
  for (; row.state === 'failed'; row = await findRun(connection, id)) {
    const preview = await previewFailed(connection, row)
    if (preview !== null) return preview
  }
  if (row.state !== 'live') throw refuseEnded(id, row.state)
  if (row.mark === 'quarantined' && !isReleasable(row)) throw refuseDamaged(row)
  // It resumes where it is.
  return { position: undefined, kept: 0, operations: [], more: 0, undone: [], children: [] }
}

/** Whether a quarantined run has a log that can be continued. */
export function isReleasable({ cause, tries }: KnownRun): boolean {
  return cause === null ? tries >= crashesBeforeCauses : cause === 'crashes' || cause === 'fault'
}

function refuseEnded(run: string, status: EndState): PawlError {
  return new PawlError(
    'run-ended',
    { run, status },
    {
      next: 'It was not retried.',
      remedy: `Only a failed run is retried. To repeat a part of its work, fork it: \`client.fork('${run}', { position })\` or \`pawl fork\`.`,
    },
  )
}

function refuseDamaged(row: KnownRun): PawlError {
  const { id, cause } = row
  const reason = reasonOf(row)
  const why =
    cause === null
      ? 'it was quarantined by an earlier version, which did not store whether its log is damaged'
      : 'its log is damaged'
  return new PawlError(
    'run-quarantined',
    { run: id, reason },
    {
      what: `Run ${id} cannot be retried, because ${why}: ${reason}.`,
      next: 'It stays quarantined.',
      remedy: 'Restore the database from a backup, or do the rest of its work in a run under another id.',
    },
  )
}

/** Returns the reason of the quarantine, if it is readable. */
function reasonOf({ reason }: KnownRun): string {
  try {
    if (reason === null) return 'unknown'
    const error = reviveFailure(decode(reason) as FailureRecord)
    return PawlError.is(error, 'run-quarantined') ? error.details.reason : error.message
  } catch {
    return 'unknown'
  }
}
