import { type Ask, PawlError } from '@pawl/core'
import { linkEnd, linkSigner, parseDuration } from '@pawl/core/internal'
import { z } from 'zod'
import { admins } from '../auth/roles.ts'
import { ServerError } from '../http/problem.ts'
import { boundedList } from '../json/lists.ts'
import { choicesOf, needsLogin } from '../links/choices.ts'
import { findAsk } from './find-ask.ts'
import { type Route, route } from './route.ts'

const dayMs = 24 * 60 * 60_000
const maxMs = 90 * dayMs

const body = z.strictObject({
  as: z
    .templateLiteral(['user:', z.string().min(1).max(500)])
    .meta({ description: 'The person who answers with the link' }),
  allow: boundedList(z.string(), { min: 1, max: 50 })
    .optional()
    .meta({ description: "'approve', 'reject', or choices of the ask. Default: all" }),
  login: z
    .boolean()
    .optional()
    .meta({ description: 'Whether nothing is shown before login. Always so for critical asks' }),
  history: z.boolean().optional().meta({ description: 'Whether the results of earlier steps are shown' }),
  expires: z
    .string()
    .regex(/^\d{1,9}(ms|s|m|h|d|w)$/)
    .optional()
    .meta({ description: 'Such as 2d. Default: 7d. At most 90d, and never after the deadline of the ask' }),
})

export const linkRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/asks/{ask}/links',
    summary: 'Make a link that answers an ask',
    roles: admins,
    query: z.strictObject({}),
    body,
    replies: {
      200: z.object({ url: z.string(), expiresAt: z.string().meta({ format: 'date-time' }) }),
    },
    async handle({ client, rights, params, body, links, identity, now, note }) {
      if (links === undefined)
        throw new ServerError('not-found', 'This server makes no links. Pass `links` to createServer.')
      const ask = await findAsk(client, rights, params.ask)
      if (ask.status !== 'open')
        throw new PawlError('ask-closed', {
          status: ask.status,
          winner: ask.answer && { by: ask.answer.by, at: ask.answer.at },
        })
      checkAllowed(ask, body.allow)
      if (!needsLogin(ask, body)) rights.checkLinkMaker(ask, identity.actor)
      const expiresAt = endOf(ask, body.expires, now)
      const { as, allow, login, history } = body
      const url = linkSigner(links).urlOf({
        ...{ ask: ask.id, as, madeBy: identity.actor },
        ...{ allow, login, history, expiresAt },
      })
      note(`A link to ask ${ask.id} of run "${ask.run}" was made`, { run: ask.run, as })
      return { status: 200, body: { url, expiresAt: new Date(expiresAt).toISOString() } }
    },
  }),
]

function checkAllowed(ask: Ask, allow: readonly string[] | undefined): void {
  const known = choicesOf(ask, {}).map(({ value }) => value)
  const unknown = allow?.find((value) => !known.includes(value))
  if (unknown !== undefined)
    throw new ServerError('request-invalid', `The ask has no answer ${unknown}: it has ${known.join(', ')}.`)
}

function endOf(ask: Ask, expires: string | undefined, now: number): number {
  const lastsMs = expires === undefined ? undefined : parseDuration(expires, 'expires')
  if (lastsMs === undefined) return linkEnd(ask, now)
  if (lastsMs > maxMs || lastsMs < 1)
    throw new ServerError('request-invalid', 'A link lasts at least 1ms and at most 90d.')
  return linkEnd(ask, now, lastsMs)
}
