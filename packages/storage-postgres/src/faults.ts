import { PawlError } from '@pawl/core/storage'

/** What it means that a statement failed, for the one who sent it. */
export type Fault =
  /** It was not carried out, and may be another time: no connection, too many of them, read-only, timed out. */
  | 'later'
  /** It lost a race with another transaction and was not carried out: 40001, 40P01. */
  | 'race'
  /** It was not carried out, because of what it wanted to write. */
  | 'data'
  /** Sent, and nothing heard: it may have been carried out, or may still be. */
  | 'unknown'
  /** It was not carried out and never will be. */
  | 'final'

/** There was no connection to send the statement on. */
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
      ? 'Whether this call was carried out is not known: look before it is repeated.'
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
  what: 'This server is a standby: it can be read, not written, and it may be behind.',
  remedy: 'Connect to the primary.',
}

function unreachable(cause: unknown): typeof standby {
  if (codeOf(cause) in timeouts) return interrupted(cause)
  if (codeOf(cause) === '53300')
    return {
      what: `PostgreSQL has no connection left: ${describe(cause)}.`,
      remedy:
        'Raise max_connections, or the limit of the database or role, or let others keep fewer: an engine and a client use up to ten each, or what the pool has that they are given.',
    }
  return {
    what: `PostgreSQL cannot be reached: ${describe(cause)}.`,
    remedy: 'Start the server, or correct the connection string: host, port, user, password and database.',
  }
}

function exhausted(error: unknown): typeof standby {
  return {
    what: `PostgreSQL has no room for it: ${describe(error)}.`,
    remedy: 'Free some space on the disk of the server, or give it more memory; then repeat the call.',
  }
}

/** The timeouts of a role or database by the SQLSTATE with which they end a statement or its session. */
const timeouts: { readonly [code: string]: string } = {
  // Also of a statement that an administrator cancels; the server's words, which tell both apart, are translated.
  57014: 'statement_timeout',
  '25P03': 'idle_in_transaction_session_timeout',
  '25P04': 'transaction_timeout',
}

function interrupted(error: unknown): typeof standby {
  return {
    what: `PostgreSQL ended the statement each time it was sent: ${describe(error)}.`,
    remedy: raiseTimeout(timeouts[codeOf(error)] ?? ''),
  }
}

/** The least that `statement_timeout` and its like must allow: ten times what 8 MiB in one statement take. */
export const minTimeoutMs = 1_000

/** What to do about a timeout of the role or database that is too small. */
export function raiseTimeout(setting: string): string {
  return `Set ${setting} to 0 or to at least ${minTimeoutMs / 1_000}s, better 30s, for this role: alter role … set ${setting} = '30s'.`
}

/** The server can be read and not written, and it may be behind. */
export class OnStandby extends Error {
  constructor() {
    super('the server is a standby; only the primary will do')
  }
}

/** The server reported success and said in the same breath that a standby may not have it. */
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
  // The server broke off without saying how far it had come.
  ['40003', 'unknown'],
  ['08', 'unknown'],
  ['57P01', 'unknown'],
  ['57P02', 'unknown'],
  ['57P05', 'unknown'],
  // Starting up, out of connections or room, read-only, cancelled by a timeout: each ends one day.
  ['57', 'later'],
  ['53', 'later'],
  ['25006', 'later'],
  ['25P03', 'unknown'],
  // Not during a commit, but perhaps right after one.
  ['25P04', 'unknown'],
  ['55P03', 'later'],
  // A value that has no place in a column, a row that is there already, a row too large for an index.
  ['22', 'data'],
  ['23505', 'data'],
  ['54', 'data'],
]

export function classify(error: unknown): Fault {
  // Refused at the door: the wrong password, no such user or database.
  if (error instanceof NotSent) return /^(28|3D)/.test(codeOf(error.cause)) ? 'final' : 'later'
  if (error instanceof GivenUp) return error.fault
  if (PawlError.is(error)) return 'final'
  if (error instanceof Unconfirmed) return 'unknown'
  // Thrown while the values were written out, before anything was sent.
  if (error instanceof TypeError) return 'final'
  if (error instanceof RangeError) return 'data'
  const code = codeOf(error)
  if (code === '') return 'unknown'
  return endsBy.find(([start]) => code.startsWith(start))?.[1] ?? 'final'
}

/** The SQLSTATE the server gave; empty if the error did not come from the server. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' && code.length === 5 ? code : ''
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses were tried, and each has its own error.
  const { errors } = error as { readonly errors?: readonly unknown[] }
  return error.message === '' && errors ? errors.map(describe).join('; ') : error.message
}
