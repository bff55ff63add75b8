import { createHash, timingSafeEqual } from 'node:crypto'

/** The cookie of a browser that has logged in. It holds the same secret as a bearer token. */
export const cookieName = 'pawl'

/** The secret of a request: its bearer token, else its cookie. An unreadable bearer token means no secret, even if there is a cookie. */
export function credentialOf(request: Request): string | null {
  const authorization = request.headers.get('authorization') ?? ''
  if (/^bearer\b/i.test(authorization)) return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null
  const cookies = request.headers.get('cookie')?.split(/; */) ?? []
  const own = cookies.find((cookie) => cookie.startsWith(`${cookieName}=`))
  return own === undefined ? null : own.slice(cookieName.length + 1)
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares two hashes of equal length in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
