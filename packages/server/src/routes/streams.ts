import { z } from 'zod'
import { everyone } from '../auth/roles.ts'
import { ServerError } from '../http/problem.ts'
import { feedEventShape, feedNames, runEventShape } from '../json/shapes.ts'
import { feedFrames } from '../streams/feed-frames.ts'
import { isOver, runFrames } from '../streams/run-frames.ts'
import { type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

const after = z.coerce
  .number()
  .int()
  .min(-1)
  .optional()
  .meta({ description: 'Only events above this number. The header Last-Event-ID, if sent, counts instead' })

const only = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(feedNames)))
  .optional()
  .meta({ description: 'Names of events, separated by commas. Default: all' })

export const streamRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/events',
    summary: 'Follow asks, and runs that end, get stuck or are quarantined',
    roles: everyone,
    query: z.strictObject({
      after,
      only,
      open: z
        .enum(['0', '1'])
        .optional()
        .meta({ description: '1: all open asks come first, unless the stream is resumed by Last-Event-ID' }),
    }),
    body: null,
    replies: { 200: feedEventShape },
    isStream: true,
    async handle({ client, rights, query, lastEventId }) {
      const resumed = readNumber(lastEventId)
      const from = resumed ?? query.after
      const after = from === undefined || from < 0 ? undefined : from
      const open = query.open === '1' && resumed === undefined
      return { frames: feedFrames(client, rights, { after, only: query.only ?? [], open }) }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}/events',
    summary: 'Follow the events of a run; 204 once all of an ended run have been seen',
    roles: everyone,
    query: z.strictObject({
      after,
      from: z
        .literal('now')
        .optional()
        .meta({ description: 'now: only events that are recorded from now on, unless `after` is given' }),
    }),
    body: null,
    replies: { 200: runEventShape },
    isStream: true,
    async handle({ client, rights, params, query, lastEventId, timing }) {
      const run = await seenRun(client, rights, params.run)
      const from = readNumber(lastEventId) ?? query.after ?? query.from ?? -1
      if (await isOver(client, run.id, from)) return { frames: null }
      return { frames: runFrames(client, run.id, from, timing) }
    },
  }),
]

/** @throws ServerError 'request-invalid' */
function readNumber(id: string | undefined): number | undefined {
  if (id === undefined || id === '') return undefined
  if (/^\d{1,15}$/.test(id)) return Number(id)
  throw new ServerError('request-invalid', 'Last-Event-ID must be the id of a frame of this stream.')
}
