import { PawlError } from '@pawl/core/storage'

/** The store cannot be used: what was found, and what to do about it. */
export function unusable(what: string, remedy: string, cause?: unknown): PawlError<'store-unusable'> {
  return new PawlError('store-unusable', { remedy }, { what, ...(cause === undefined ? {} : { cause }) })
}

/** Prepared statements do not stay where they were prepared. */
export function notOurSession(cause: unknown): PawlError<'store-unusable'> {
  const remedy = 'Pass { prepared: false, notifications: false } to postgres().'
  const what =
    'What was prepared on this connection is not there: several sessions share it, as behind PgBouncer in transaction mode.'
  return new PawlError('store-unusable', { remedy }, { what, next: 'Nothing of this call was done.', cause })
}
