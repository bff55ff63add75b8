import { ServerError } from './problem.ts'

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Refuses requests for another host: a web page can point a name of its own at 127.0.0.1 (DNS rebinding). */
export function checkHost(request: Request, hosts: readonly string[]): void {
  const name = hostOf(request)
  if (name !== null && (loopback.includes(name) || hosts.includes(name))) return
  const shown =
    name === null ? 'The request names no host.' : `The host ${JSON.stringify(name)} is not served here.`
  throw new ServerError('host-refused', `${shown} Add it to \`hosts\` of createServer.`)
}

/** The name of the `Host` header, without its port. */
function hostOf(request: Request): string | null {
  const host = request.headers.get('host')?.toLowerCase()
  return host ? host.replace(/:\d+$/, '') : null
}

/**
 * Refuses writes from pages of other sites (CSRF). Browsers send `Origin` with every write, and `Sec-Fetch-Site`; programs send
 * neither. A listed origin may write with a bearer token, never with the cookie.
 */
export function checkOrigin(request: Request, origins: readonly string[]): void {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (origin !== null && origins.includes(origin) && hasBearer(request)) return
  if (origin !== null && !isOwn(origin, request)) refuse(`from ${JSON.stringify(origin)}`)
  if (site !== null && site !== 'same-origin' && site !== 'none')
    refuse(`with Sec-Fetch-Site ${JSON.stringify(site)}`)
}

/**
 * Refuses forms that a page of another site sends. Browsers send `Origin: null` with the forms of a page that has the policy
 * `no-referrer`, as the pages of links have; `Sec-Fetch-Site` then tells where they come from.
 */
export function checkFormOrigin(request: Request): void {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (origin !== null && origin !== 'null' && !isOwn(origin, request))
    refuse(`from ${JSON.stringify(origin)}`)
  if (site !== null && site !== 'same-origin' && site !== 'none')
    refuse(`with Sec-Fetch-Site ${JSON.stringify(site)}`)
}

function isOwn(origin: string, request: Request): boolean {
  try {
    return new URL(origin).host === request.headers.get('host')?.toLowerCase()
  } catch {
    return false
  }
}

function hasBearer(request: Request): boolean {
  return /^bearer +\S+$/i.test(request.headers.get('authorization') ?? '')
}

function refuse(how: string): never {
  throw new ServerError('not-allowed', `A request ${how} may not change anything here.`)
}
