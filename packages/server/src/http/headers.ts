const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const always: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Sets the security headers of every reply. Data is never kept in a cache. */
export function secure(reply: Response): Response {
  for (const [name, value] of Object.entries(always)) reply.headers.set(name, value)
  if (!reply.headers.has('cache-control')) reply.headers.set('cache-control', 'no-store')
  return reply
}

/** Lets pages of a listed origin read the reply. Cookies stay out: only bearer tokens cross origins. */
export function allowOrigin(request: Request, reply: Response, origins: readonly string[]): Response {
  reply.headers.append('vary', 'Origin')
  const origin = request.headers.get('origin')
  if (origin !== null && origins.includes(origin)) reply.headers.set('access-control-allow-origin', origin)
  return reply
}

/** The reply to a preflight request of a listed origin; null if there is nothing to allow. */
export function preflight(request: Request, origins: readonly string[]): Response | null {
  const origin = request.headers.get('origin')
  if (request.method !== 'OPTIONS' || origin === null || !origins.includes(origin)) return null
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, pawl-via',
      'access-control-max-age': '600',
    },
  })
}
