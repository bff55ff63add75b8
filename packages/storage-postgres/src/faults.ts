import { PawlError } from '@pawl/core/storage'

/** Classifies a failed statement by what its sender may do next. */
export type Fault =
  /** Not executed, but a retry may succeed: no connection, too many connections, read-only, timed out. */
  | 'later'
  /** Not executed, because another transaction won: 40001, 40P01. */
  | 'race'
  /** Not executed, because of the values it would have written. */
  | 'data'
  /** Sent without a response: it may have been executed, or may still be. */
  | 'unknown'
  /** Not executed, and a retry fails as well. */
  | 'final'

/** No connection was available for the statement. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super(`No connection to PostgreSQL: ${describe(cause)}`, { cause })
  }
}

/** The error for the caller once retries have ended. The same call may succeed later. */
class GivenUp extends PawlError<'store-unusable'> {
  readonly #fault: Fault

  /** @param mayBeDone whether an earlier attempt was sent without a response */
  constructor({ what, remedy }: typeof standby, cause: unknown, mayBeDone: boolean, fault: Fault = 'later') {
    const next = mayBeDone
      ? 'The outcome of this call is unknown; check it before repeating the call.'
      : 'Nothing of this call was done.'
    super('store-unusable', { remedy }, { what, next, cause })
    this.#fault = fault
  }

  get fault(): Fault {
    return this.#fault
  }
}

/**
 * Returns the error to throw for a fault once retries have ended.
 * @param mayBeDone whether an earlier attempt was sent without a response
 */
export function explain(error: unknown, mayBeDone: boolean): unknown {
  if (error instanceof NotSent) {
    const { cause } = error
    return new GivenUp(cause instanceof OnStandby ? standby : unreachable(cause), cause, mayBeDone)
  }
  const code = codeOf(error)
  if (code.startsWith('53')) return new GivenUp(exhausted(error), error, mayBeDone)
  if (!(code in timeouts)) return error
  const fault = classify(error)
  return new GivenUp(interrupted(error), error, mayBeDone || fault === 'unknown', fault)
}

const standby = {
  what: 'This server is a standby: it is read-only and may be behind the primary.',
  remedy: 'Connect to the primary.',
}

function unreachable(cause: unknown): typeof standby {
  if (codeOf(cause) in timeouts) return interrupted(cause)
  if (codeOf(cause) === '53300')
    return {
      what: `PostgreSQL has no connection left: ${describe(cause)}.`,
      remedy:
        'Raise `max_connections` or the limit of the database or role, or use smaller pools. An engine and a client use up to ten connections each.',
    }
  return {
    what: `PostgreSQL cannot be reached: ${describe(cause)}.`,
    remedy: 'Start the server, or correct the connection string: host, port, user, password and database.',
  }
}

function exhausted(error: unknown): typeof standby {
  return {
    what: `PostgreSQL has no space left: ${describe(error)}.`,
    remedy: 'Free disk space or add memory on the server, then repeat the call.',
  }
}

/** Timeout settings of a role or database, by the SQLSTATE they cause. */
const timeouts: { readonly [code: string]: string } = {
  // A statement cancelled by an administrator has the same code. Only the message differs, and it is translated.
  57014: 'statement_timeout',
  '25P03': 'idle_in_transaction_session_timeout',
  '25P04': 'transaction_timeout',
}

function interrupted(error: unknown): typeof standby {
  return {
    what: `PostgreSQL cancelled every attempt of the statement: ${describe(error)}.`,
    remedy: raiseTimeout(timeouts[codeOf(error)] ?? ''),
  }
}

/** Minimum for `statement_timeout` and similar settings: ten times the duration of a statement with 8 MiB. */
export const minTimeoutMs = 1_000

/** Returns the remedy for a role's or database's timeout that is too short. */
export function raiseTimeout(setting: string): string {
  return `Set ${setting} to 0 or to at least ${minTimeoutMs / 1_000}s, better 30s, for this role: alter role … set ${setting} = '30s'.`
}

/** The server is a standby: read-only, and possibly behind the primary. */
export class OnStandby extends Error {
  constructor() {
    super('the server is a standby; only the primary will do')
  }
}

/** The server reported success with a warning that a standby may not have the transaction. */
export class Unconfirmed extends Error {
  constructor(warning: string) {
    super(`PostgreSQL did not confirm a commit: ${warning}`)
  }
}

const endsBy: readonly (readonly [start: string, fault: Fault])[] = [
  ['40001', 'race'],
  ['40P01', 'race'],
  // A statement does not match its values: a bug in this package.
  ['08P01', 'final'],
  // The server aborted without reporting whether the statement took effect.
  ['40003', 'unknown'],
  ['08', 'unknown'],
  ['57P01', 'unknown'],
  ['57P02', 'unknown'],
  ['57P05', 'unknown'],
  // Starting up, out of connections or space, read-only, cancelled by a timeout: all temporary.
  ['57', 'later'],
  ['53', 'later'],
  ['25006', 'later'],
  ['25P03', 'unknown'],
  // Never raised during a commit, but possibly right after one.
  ['25P04', 'unknown'],
  ['55P03', 'later'],
  // A value out of a column's range, a duplicate row, a row too large for an index.
  ['22', 'data'],
  ['23505', 'data'],
  ['54', 'data'],
]

export function classify(error: unknown): Fault {
  // Rejected during authentication: wrong password, unknown user or database.
  if (error instanceof NotSent) return /^(28|3D)/.test(codeOf(error.cause)) ? 'final' : 'later'
  if (error instanceof GivenUp) return error.fault
  if (PawlError.is(error)) return 'final'
  if (error instanceof Unconfirmed) return 'unknown'
  // Thrown while values were serialized, before anything was sent.
  if (error instanceof TypeError) return 'final'
  if (error instanceof RangeError) return 'data'
  const code = codeOf(error)
  if (code === '') return 'unknown'
  // Another transaction has created a run with this id, which the statement could not see yet.
  if (code === '23505' && constraintOf(error) === 'runs_id') return 'race'
  return endsBy.find(([start]) => code.startsWith(start))?.[1] ?? 'final'
}

/** The SQLSTATE the server gave; empty if the error did not come from the server. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' && code.length === 5 ? code : ''
}

function constraintOf(error: unknown): unknown {
  return (error as { readonly constraint?: unknown }).constraint
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses were tried; each has its own error.
  const { errors } = error as { readonly errors?: readonly unknown[] }
  return error.message === '' && errors ? errors.map(describe).join('; ') : error.message
}
