import { docsPage } from '../base/docs.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { isUnread, WrittenLater } from '../events/codec.ts'
import type { RunRow } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'

/**
 * Converts an error about damaged data, or data of a later version, to 'run-quarantined'; returns other errors as is.
 * @param subject the unreadable thing, as the subject of the sentence
 */
export function explainUnread(run: string, subject: string, error: unknown): unknown {
  return isUnread(error) ? unreadError(run, subject, error) : error
}

export function unreadError(run: string, subject: string, error: Error): PawlError<'run-quarantined'> {
  const remedy =
    error instanceof WrittenLater
      ? 'Read it with the version of Pawl that wrote it.'
      : `Do not modify the database, and check its disk; see ${docsPage('errors/run-quarantined')}.`
  return new PawlError(
    'run-quarantined',
    { run, reason: error.message },
    {
      what: `${subject} cannot be read: ${error.message}.`,
      next: 'Nothing was changed.',
      remedy,
      cause: error,
    },
  )
}

/**
 * Whether a log only looks damaged because its run was deleted, or has begun again, since its row was read: then the row is to be
 * read again.
 */
export async function hasOutrun(
  store: Pick<StorePort, 'runs'>,
  row: RunRow,
  error: unknown,
): Promise<boolean> {
  return isUnread(error) && !(await isAsRead(store, row))
}

/** Whether a run is as it was read. */
export async function isAsRead(
  store: Pick<StorePort, 'runs'>,
  { id, run, head, base }: RunRow,
): Promise<boolean> {
  const found = await store.runs.find(id)
  return found?.run === run && found.head === head && found.base === base
}
