import { docsPage } from '../base/docs.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { isUnread, WrittenLater } from '../events/codec.ts'

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
