import { randomUUID } from 'node:crypto'
import { type Duration, PawlError } from '@pawl/core'
import { readStates } from '@pawl/core/internal'
import { z } from 'zod'
import { everyone, operators } from '../auth/roles.ts'
import { untilAborted } from '../base/until-aborted.ts'
import { readPart } from '../http/answers.ts'
import { writePayload } from '../json/payload.ts'
import { runShape, stateShape } from '../json/shapes.ts'
import { showRun, showState } from '../json/views.ts'
import { wait } from './query.ts'
import { type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

const waitForReply = wait.meta({ description: 'How long to wait for the reply. Default: 30s. At most 60s' })
const waitForValue = wait.meta({ description: 'How long to wait for a first value. At most 60s' })

/** The exposed values of a run, and the signals and updates to it. */
export const talkRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs/{run}/state',
    summary: 'List the values that a run exposes, by name',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ items: z.array(stateShape) }) },
    async handle({ client, rights, params }) {
      const run = await seenRun(client, rights, params.run)
      return { status: 200, body: { items: (await readStates(client, run.id)).map(showState) } }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}/state/{name}',
    summary: 'Get a value that a run exposes; 202 while there is none',
    roles: everyone,
    query: z.strictObject({ wait: waitForValue }),
    body: null,
    replies: { 200: stateShape, 202: runShape },
    async handle({ client, rights, params, query, signal }) {
      const run = await seenRun(client, rights, params.run)
      if (query.wait !== undefined) {
        const waiting = client.get(run.id).state(params.name, { wait: query.wait as Duration })
        await untilAborted(waiting, signal).catch(ignoreNoValue)
      }
      const found = (await readStates(client, run.id)).find(({ name }) => name === params.name)
      if (found !== undefined) return { status: 200, body: showState(found) }
      return { status: 202, body: showRun(await client.get(run.id).status()) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/updates/{name}',
    summary:
      'Send an update and get its reply; 202 if none came in time. The same Idempotency-Key gets the same reply',
    roles: operators,
    query: z.strictObject({ wait: waitForReply }),
    body: z.strictObject({ input: z.unknown().optional() }),
    replies: {
      200: z.object({ output: z.unknown() }),
      202: z.object({
        id: z.string().meta({ description: 'Send the update again with this Idempotency-Key for its reply' }),
      }),
    },
    async handle({ client, rights, params, query, body, identity, idempotencyKey, signal }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('update', run)
      const input = Object.hasOwn(body, 'input') ? readPart('input', body.input) : undefined
      const id = idempotencyKey ?? randomUUID()
      const options = { id, by: identity.actor, timeout: (query.wait ?? '30s') as Duration }
      try {
        const sent = client.get(run.id).update(params.name, input, options)
        return { status: 200, body: { output: writePayload(await untilAborted(sent, signal)) } }
      } catch (error) {
        if (!PawlError.is(error, 'wait-timed-out')) throw error
        return { status: 202, body: { id } }
      }
    },
  }),
]

/** Whether there is a value is read afterwards. */
function ignoreNoValue(error: unknown): void {
  if (!PawlError.is(error, 'wait-timed-out') && !PawlError.is(error, 'run-ended')) throw error
}
