import { addressOf } from '../http/address.ts'
import { ServerError } from '../http/problem.ts'
import type { Shared } from '../shared.ts'
import type { Identity } from '../types.ts'
import { credentialOf } from './credentials.ts'
import { roles } from './roles.ts'

/**
 * Returns who makes the request. Failed logins are counted by address, if it is known. Only failing requests are refused: behind a
 * proxy all callers share an address, and one of them must not lock out the others.
 * @throws ServerError 'login-needed', 'too-many' after ten failed logins from an address in a minute
 */
export async function identify(shared: Shared, request: Request): Promise<Identity> {
  const address = addressOf(request)
  const identity = await callAuth(shared, request)
  if (identity !== null) return identity
  if (address !== null && credentialOf(request) !== null) shared.failures.take(address)
  throw new ServerError('login-needed', 'Log in, or send a token as `Authorization: Bearer …`.', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** Any error of `auth` is a fault of the server. Its text is not shown to the caller, who is unknown. */
async function callAuth({ settings }: Shared, request: Request): Promise<Identity | null> {
  try {
    const identity = await settings.auth(request)
    return isMissing(identity) ? null : checkIdentity(identity)
  } catch (error) {
    throw new Error('The `auth` of createServer failed.', { cause: error })
  }
}

/** Code without types may return nothing for null. */
function isMissing(identity: Identity | null | undefined): identity is null | undefined {
  return identity === null || identity === undefined
}

/** Names what is missing, and shows no value: one may be a secret. */
function checkIdentity(identity: Identity): Identity {
  const { actor, names, role } = identity
  const wrong = [
    ...(typeof actor === 'string' && actor.startsWith('user:') ? [] : ['`actor` must begin with user:']),
    ...(Array.isArray(names) ? [] : ['`names` must be a list']),
    ...(roles.includes(role) ? [] : [`\`role\` must be one of ${roles.join(', ')}`]),
  ]
  if (wrong.length === 0) return identity
  const given = Object.keys(Object(identity)).join(', ')
  throw new TypeError(`It returned an object with ${given || 'no keys'}: ${wrong.join('; ')}.`)
}
