import { clipText } from '@pawl/core/internal'
import { Hono } from 'hono'
import type { z } from 'zod'
import { identify } from './auth/identify.ts'
import { rightsOf } from './auth/rights.ts'
import { sameAddress } from './http/address.ts'
import { readJson } from './http/body.ts'
import { bytesReply, readBytes } from './http/bytes.ts'
import { checkHost, checkOrigin } from './http/guard.ts'
import { allowOrigin, preflight, secure } from './http/headers.ts'
import { problemReply, reportFault, ServerError } from './http/problem.ts'
import { serveInbox } from './inbox/routes.ts'
import { serveLinks } from './links/routes.ts'
import { clearCookie, login } from './login.ts'
import { metrics } from './metrics.ts'
import { healthz, readyz } from './probes.ts'
import type { AnswerGiver, Call, Route } from './routes/route.ts'
import { routes } from './routes/table.ts'
import type { Shared } from './shared.ts'
import { eventStream, noStream } from './streams/event-stream.ts'
import type { Identity } from './types.ts'

/** Handles one request: host, origin, login, rights, shape, and then the route. */
export type Dispatch = (request: Request) => Promise<Response>

export function createDispatch(shared: Shared): Dispatch {
  const { settings } = shared
  const app = new Hono()
  for (const route of routes)
    app.on(route.method, `/v1${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`, (context) =>
      callRoute(shared, route, context.req.raw, context.req.param()),
    )
  app.get('/healthz', healthz)
  app.get('/readyz', () => readyz(settings))
  app.get('/metrics', ({ req }) => metrics(shared, req.raw))
  app.post('/login', ({ req }) => login(shared, req.raw))
  app.post('/logout', ({ req }) => {
    checkOrigin(req.raw, [])
    return clearCookie(settings)
  })
  serveLinks(app, shared)
  serveInbox(app, settings)
  app.notFound(() => {
    throw new ServerError('not-found', 'There is nothing at this path, or not for this method.')
  })
  app.onError((error) => problemReply(error, shared.report))
  const answer = async (request: Request): Promise<Response> => {
    try {
      checkHost(request, settings.hosts)
      const early = preflight(request, settings.origins)
      const reply = early ?? (await app.fetch(withinBase(request, settings.basePath)))
      return secure(allowOrigin(request, reply, settings.origins))
    } catch (error) {
      return secure(problemReply(error, shared.report))
    }
  }
  return async (request) => {
    const reply = await answer(request)
    shared.replies.add(request.method, reply.status)
    return reply
  }
}

/** Some frameworks strip the path they mount at, and some do not. */
function withinBase(request: Request, basePath: string): Request {
  const url = new URL(request.url)
  if (basePath === '/' || !(url.pathname === basePath || url.pathname.startsWith(`${basePath}/`)))
    return request
  url.pathname = url.pathname.slice(basePath.length) || '/'
  return sameAddress(request, new Request(url, request))
}

async function callRoute(
  shared: Shared,
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
): Promise<Response> {
  const { settings } = shared
  const isWrite = route.method !== 'GET'
  if (isWrite) checkOrigin(request, settings.origins)
  const identity = await identify(shared, request)
  ;(isWrite ? shared.writes : shared.reads).take(identity.actor)
  if (!route.roles.includes(identity.role))
    throw new ServerError(
      'not-allowed',
      `${identity.actor} has role ${identity.role}; this needs ${route.roles.join(' or ')}.`,
    )
  const query = check(route.query, Object.fromEntries(new URL(request.url).searchParams), 'query')
  const body = await readBody(route, request)
  const client = settings.clientOf(identity)
  const call: Call<unknown, unknown, unknown> = {
    ...{ identity, params, query, body },
    client,
    procedureOf: settings.procedureOf,
    rights: rightsOf(identity, settings, client),
    lastEventId: request.headers.get('last-event-id') ?? undefined,
    timing: shared.timing,
    links: settings.links,
    hooks: shared.settings.hooks,
    now: shared.now(),
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    signal: AbortSignal.any([request.signal, shared.stopping]),
    note: (deed, fields) => settings.logger.info(deed, { by: identity.actor, ...fields }),
    giver: (as) => ({ ...personOf(identity, as), via: readVia(request.headers.get('pawl-via')) }),
  }
  const reply = await route.handle(call)
  if ('body' in reply) return Response.json(reply.body, { status: reply.status })
  if ('bytes' in reply)
    return bytesReply(reply.bytes, request.method !== 'HEAD', (error) => reportFault(error, shared.report))
  // The reply to HEAD is sent without its body, which must not stay open.
  if (reply.frames === null || request.method === 'HEAD') return noStream(request.method === 'HEAD')
  const release = shared.streams.open(identity.actor)
  return eventStream(reply.frames, call.signal, shared.timing, (error) => {
    release()
    if (error !== undefined) reportFault(error, shared.report)
  })
}

async function readBody(route: Route, request: Request): Promise<unknown> {
  if (route.body === null) return undefined
  return route.takes === 'bytes' ? readBytes(request) : check(route.body, await readJson(request), 'body')
}

/** A header that names no channel is ignored, not refused. */
function readVia(header: string | null): string {
  return header !== null && /^[a-z0-9-]{1,40}$/.test(header) ? header : 'api'
}

/** Returns the person who answers, and who acts for them. @throws ServerError 'not-allowed' */
function personOf({ actor, actAs }: Identity, as: string | undefined): Pick<AnswerGiver, 'as' | 'actedBy'> {
  if (as === undefined || as === actor) return { as: actor }
  if (actAs) return { as: as as `user:${string}`, actedBy: actor }
  throw new ServerError('not-allowed', `${actor} may not act as ${as}.`)
}

/** A request can have a key as long as itself, or a hundred thousand unknown ones in one message. */
const maxIssueText = 500

function check(schema: z.ZodType, value: unknown, part: 'query' | 'body'): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.slice(0, 100).map(({ path, message }) => ({
    path: clipText([part, ...path.map(String)].join('.'), maxIssueText),
    message: clipText(message, maxIssueText),
  }))
  const shown = issues
    .slice(0, 5)
    .map((issue) => `${issue.path}: ${issue.message}`)
    .join('; ')
  throw new ServerError('request-invalid', `The request is invalid: ${shown}.`, { issues })
}
