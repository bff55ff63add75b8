import { randomUUID } from 'node:crypto'
import { type Client, PawlError, ref } from '@pawl/core'
import { readFeed } from '@pawl/core/internal'
import { z } from 'zod'
import { admins } from '../auth/roles.ts'
import { type Hook, hookName, type hookProcedure, hookShape } from '../hooks/procedures.ts'
import {
  findHook,
  type HookAccess,
  hookRunId,
  listHooks,
  type RegisteredHook,
  startTest,
} from '../hooks/registry.ts'
import { faultOf } from '../hooks/send.ts'
import { secretOf } from '../hooks/signature.ts'
import { ServerError } from '../http/problem.ts'
import { boundedList } from '../json/lists.ts'
import { type Route, route } from './route.ts'

const hookJson = hookShape
  .omit({ from: true })
  .extend({ isOn: z.boolean().meta({ description: 'Whether events are delivered' }) })
  .meta({ id: 'Hook' })

export const hookRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/hooks',
    summary: 'List webhooks',
    roles: admins,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ items: z.array(hookJson) }) },
    async handle({ client, hooks }) {
      accessOf(hooks)
      return { status: 200, body: { items: (await listHooks(client)).map(showHook) } }
    },
  }),
  route({
    method: 'POST',
    path: '/hooks',
    summary: 'Register a webhook; its secret is shown once',
    roles: admins,
    query: z.strictObject({}),
    body: z.strictObject({
      url: z.string().max(2000),
      events: boundedList(hookShape.shape.events.element, { max: 10 })
        .optional()
        .meta({ description: 'Empty: all' }),
      include: hookShape.shape.include
        .optional()
        .meta({ description: "'full' sends the ask or run, 'ids' names it. Default: ids" }),
    }),
    replies: { 201: z.object({ hook: hookJson, secret: z.string() }) },
    async handle({ client, identity, rights, body, hooks }) {
      const access = accessOf(hooks)
      if (rights.isNarrowed && body.include === 'full')
        throw new ServerError(
          'not-allowed',
          "A webhook with include 'full' sends all asks, runs and notices, also the ones that `may` hides. Use include 'ids'.",
        )
      const fault = faultOf(body.url, access.allowPrivate)
      if (fault !== null)
        throw new ServerError('request-invalid', `The address of a webhook is refused. ${fault}`, {
          issues: [{ path: 'body.url', message: fault }],
        })
      const { url, events = [], include = 'ids' } = body
      const id = randomUUID()
      const hook: Hook = { id, url, events, include, from: await newestNumber(client), by: identity.actor }
      await client.run(ref<typeof hookProcedure>(hookName), hook, { id: hookRunId(id), by: identity.actor })
      access.wake()
      const [key = ''] = access.keys
      return { status: 201, body: { hook: showHook({ ...hook, isOn: true }), secret: secretOf(key, id) } }
    },
  }),
  route({
    method: 'DELETE',
    path: '/hooks/{hook}',
    summary: 'Delete a webhook',
    roles: admins,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ deleted: z.literal(true) }) },
    async handle({ client, identity, params, hooks }) {
      const access = accessOf(hooks)
      const run = await client.get(hookRunId(params.hook)).status()
      if (run.procedure !== hookName) throw new PawlError('run-not-found', { run: run.id })
      await client.cancel(run.id, 'the webhook was deleted', { by: identity.actor })
      access.wake()
      return { status: 200, body: { deleted: true } }
    },
  }),
  route({
    method: 'POST',
    path: '/hooks/{hook}/test',
    summary: 'Send a ping to a webhook; the log of the run says how it went',
    roles: admins,
    query: z.strictObject({}),
    body: z.strictObject({}),
    replies: { 202: z.object({ run: z.string() }) },
    async handle({ client, params, hooks, now }) {
      accessOf(hooks)
      const hook = await findHook(client, params.hook)
      return { status: 202, body: { run: await startTest(client, hook, new Date(now)) } }
    },
  }),
]

function accessOf(hooks: HookAccess | undefined): HookAccess {
  if (hooks !== undefined) return hooks
  throw new ServerError('not-found', 'This server sends no webhooks. Pass `hooks` to createServer.')
}

function showHook({
  id,
  url,
  events,
  include,
  by,
  isOn,
}: Omit<RegisteredHook, 'onSince'>): z.infer<typeof hookJson> {
  return { id, url, events, include, by, isOn }
}

/** Asks the feed for the events after an impossible number: it replies with its newest one. */
async function newestNumber(client: Client): Promise<number> {
  for await (const { n } of readFeed(client, { after: Number.MAX_SAFE_INTEGER, signal: undefined })) return n
  return 0
}
