import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Auth, Identity } from '../types.ts'
import { credentialOf, hashOf, isSameHash } from './credentials.ts'

const keys = new WeakMap<Auth, string>()

/**
 * Accepts the user of the operating system as `admin`, behind a key that `listen` puts into the fragment of the URL it returns. On
 * 127.0.0.1 only. Loopback alone protects neither from other users of the computer nor from web pages; the key does.
 */
export function local(): Auth {
  const key = randomBytes(32).toString('base64url')
  const identity: Identity = { actor: `user:${userName()}`, names: [], role: 'admin' }
  const auth: Auth = (request) => {
    const given = credentialOf(request)
    return given !== null && isSameHash(hashOf(given), hashOf(key)) ? identity : null
  }
  keys.set(auth, key)
  return auth
}

/** The key of `local()`, or undefined for any other auth. */
export function localKey(auth: Auth): string | undefined {
  return keys.get(auth)
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'local'
  }
}
