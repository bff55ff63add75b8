import { z } from 'zod'
import { cookieName } from './auth/credentials.ts'
import { identify } from './auth/identify.ts'
import { sameAddress } from './http/address.ts'
import { readJson } from './http/body.ts'
import { checkOrigin } from './http/guard.ts'
import { ServerError } from './http/problem.ts'
import type { Settings } from './options.ts'
import type { Shared } from './shared.ts'

const loginBody = z.strictObject({ key: z.string().regex(/^[\w-]{1,500}$/) })

/** Turns a key or token into a cookie, which scripts cannot read and other sites cannot send. */
export async function login(shared: Shared, request: Request): Promise<Response> {
  checkOrigin(request, [])
  const body = loginBody.safeParse(await readJson(request))
  if (!body.success) throw new ServerError('request-invalid', 'The body must be {"key": "…"}.')
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${body.data.key}`)
  const { actor, role } = await identify(shared, sameAddress(request, new Request(request.url, { headers })))
  return Response.json(
    { actor, role },
    { headers: { 'set-cookie': cookie(shared.settings, body.data.key, isSecure(request)) } },
  )
}

export function clearCookie(settings: Settings): Response {
  return new Response(null, {
    status: 204,
    headers: { 'set-cookie': `${cookie(settings, '', false)}; Max-Age=0` },
  })
}

function cookie({ basePath }: Settings, value: string, isSecure: boolean): string {
  return `${cookieName}=${value}; Path=${basePath}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}

/** On loopback browsers refuse `Secure` without https. */
function isSecure(request: Request): boolean {
  return !/^(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(request.headers.get('host') ?? '')
}
