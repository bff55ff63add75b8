import { addressOf } from '../http/address.ts'
import type { RateLimit } from '../http/limits.ts'
import { type ReportFault, ServerError } from '../http/problem.ts'
import type { Settings } from '../options.ts'
import type { StreamTiming } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import type { Identity } from '../types.ts'
import { credentialOf } from './credentials.ts'

/** What all requests of one server share. */
export interface Shared {
  readonly settings: Settings
  readonly reads: RateLimit
  readonly writes: RateLimit
  /** Failed logins by address. */
  readonly failures: RateLimit
  readonly streams: OpenStreams
  readonly timing: StreamTiming
  readonly report: ReportFault
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

/**
 * Returns who makes the request. Failed logins are counted by address; without a known address they are not, or one caller could
 * lock out all others.
 * @throws ServerError 'login-needed', 'too-many' after ten failed logins from an address in a minute
 */
export async function identify(shared: Shared, request: Request): Promise<Identity> {
  const address = addressOf(request)
  if (address !== null && shared.failures.isSpent(address)) shared.failures.take(address)
  const identity = await callAuth(shared, request)
  if (identity !== null) return identity
  if (address !== null && credentialOf(request) !== null) shared.failures.take(address)
  throw new ServerError('login-needed', 'Log in, or send a token as `Authorization: Bearer …`.', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** An error of `auth` is a fault of the server, whatever its code: the caller, who is unknown, learns nothing of it. */
async function callAuth({ settings }: Shared, request: Request): Promise<Identity | null> {
  try {
    return await settings.auth(request)
  } catch (error) {
    throw new Error('The `auth` of createServer failed.', { cause: error })
  }
}
