import { PawlError } from '@pawl/core/storage'
import { describe, OnStandby } from './faults.ts'

/** The store cannot be used: what was found, and what to do about it. */
export function unusable(what: string, remedy: string, cause?: unknown): PawlError<'store-unusable'> {
  return new PawlError('store-unusable', { remedy }, { what, ...(cause === undefined ? {} : { cause }) })
}

/** Prepared statements do not stay where they were prepared. */
export function notOurSession(cause: unknown): PawlError<'store-unusable'> {
  return unusable(
    'What was prepared on this connection is not there: several sessions share it, as behind PgBouncer in transaction mode.',
    'Pass { prepared: false, notifications: false } to postgres().',
    cause,
  )
}

/** A database that did not even let us look. */
export function unreachable(cause: unknown): PawlError<'store-unusable'> {
  if (cause instanceof OnStandby) {
    return unusable(
      'This server is a standby: it can be read, not written, and it may be behind.',
      'Connect to the primary.',
    )
  }
  return unusable(
    `PostgreSQL cannot be reached: ${describe(cause)}.`,
    'Start the server, or correct the connection string: host, port, user, password and database.',
    cause,
  )
}
