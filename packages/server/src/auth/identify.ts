import { addressOf } from '../http/address.ts'
import type { RateLimit } from '../http/limits.ts'
import { type ReportFault, ServerError } from '../http/problem.ts'
import type { Settings } from '../options.ts'
import type { Identity } from '../types.ts'

/** What all requests of one server share. */
export interface Shared {
  readonly settings: Settings
  readonly reads: RateLimit
  readonly writes: RateLimit
  /** Failed logins by address. */
  readonly failures: RateLimit
  readonly report: ReportFault
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

/** @throws ServerError 'login-needed', 'too-many' after ten failures of an address in a minute */
export async function identify(shared: Shared, request: Request): Promise<Identity> {
  const address = addressOf(request)
  if (shared.failures.isSpent(address)) shared.failures.take(address)
  const identity = await shared.settings.auth(request)
  if (identity !== null) return identity
  if (request.headers.has('authorization') || request.headers.has('cookie')) shared.failures.take(address)
  throw new ServerError('login-needed', 'Log in, or send a token as `Authorization: Bearer …`.', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}
