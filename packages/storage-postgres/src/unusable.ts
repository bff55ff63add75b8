import { PawlError } from '@pawl/core/storage'

/** Creates the error for a store that cannot be used, with the cause and the remedy. */
export function unusable(what: string, remedy: string, cause?: unknown): PawlError<'store-unusable'> {
  return new PawlError('store-unusable', { remedy }, { what, ...(cause === undefined ? {} : { cause }) })
}

/** Creates the error for a pool whose prepared statements disappear. */
export function notOurSession(cause: unknown): PawlError<'store-unusable'> {
  const remedy = 'Pass { prepared: false, notifications: false } to postgres().'
  const what =
    'A prepared statement is missing on this connection: several sessions share it, as with PgBouncer in transaction mode.'
  return new PawlError('store-unusable', { remedy }, { what, next: 'Nothing of this call was done.', cause })
}
