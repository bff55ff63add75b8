import { z } from 'zod'
import { ServerError } from '../http/problem.ts'
import { runEventShape } from '../json/shapes.ts'
import { isOver, runFrames } from '../streams/run-frames.ts'
import { everyone, type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

const after = z.coerce
  .number()
  .int()
  .min(-1)
  .optional()
  .meta({ description: 'Only events above this number. The header Last-Event-ID, if sent, counts instead' })

export const streamRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs/{run}/events',
    summary: 'Follow the events of a run; 204 once all of an ended run have been seen',
    roles: everyone,
    query: z.strictObject({ after }),
    body: null,
    replies: { 200: runEventShape },
    isStream: true,
    async handle({ client, rights, params, query, lastEventId, timing }) {
      const run = await seenRun(client, rights, params.run)
      const from = readNumber(lastEventId) ?? query.after ?? -1
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
