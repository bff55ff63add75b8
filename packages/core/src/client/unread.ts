import { docsPage } from '../base/docs.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { isUnread, WrittenLater } from '../events/codec.ts'

/**
 * The error for stored data that are damaged, or that a later version wrote; every other error as it is.
 * @param subject what cannot be read, as the beginning of a sentence
 */
export function explainUnread(run: string, subject: string, error: unknown): unknown {
  return isUnread(error) ? unreadError(run, subject, error) : error
}

export function unreadError(run: string, subject: string, error: Error): PawlError<'run-quarantined'> {
  const remedy =
    error instanceof WrittenLater
      ? 'Read it with the version of Pawl that wrote it.'
      : `Keep the database as it is and check its disk; see ${docsPage('errors/run-quarantined')}.`
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
