import { type Checkpoint, type Client, type Duration, PawlError } from '@pawl/core'
import { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import { admins, everyone, operators, readers } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { readPart } from '../http/answers.ts'
import { ServerError } from '../http/problem.ts'
import { readId } from '../json/ids.ts'
import { checkpointShape } from '../json/shapes.ts'
import { showCheckpoint } from '../json/views.ts'
import { cursor } from './query.ts'
import { type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

const age = z.string().optional().meta({ description: 'Only checkpoints at least this old, such as 24h' })
const deleted = z.object({ deleted: z.number() })

export const checkpointRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs/{run}/checkpoints',
    summary: 'List the checkpoints of a run, newest first, without their values',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ items: z.array(checkpointShape) }) },
    async handle({ client, rights, params }) {
      const run = await seenRun(client, rights, params.run)
      return { status: 200, body: { items: (await client.checkpoints.list(run.id)).map(showBrief) } }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/checkpoints',
    summary: 'Save a value at the present position of a run',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({ name: z.string().optional(), state: z.unknown().optional() }),
    replies: { 201: checkpointShape },
    async handle({ client, rights, params, body, identity, note }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('checkpoint', run)
      const state = Object.hasOwn(body, 'state') ? readPart('state', body.state) : undefined
      const options = { by: identity.actor, ...(body.name === undefined ? {} : { name: body.name }) }
      const saved = await client.checkpoints.create(run.id, state, options)
      note(`Checkpoint ${saved.id} of run "${run.id}" was saved`, { run: run.id })
      return { status: 201, body: showCheckpoint(saved) }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}/checkpoints/{checkpoint}',
    summary: 'Get a checkpoint of a run, with its value',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: checkpointShape },
    async handle({ client, rights, params }) {
      const run = await seenRun(client, rights, params.run)
      const found = await client.checkpoints.load(readId(params.checkpoint))
      if (found?.run !== run.id) throw notFound(params.checkpoint)
      return { status: 200, body: showCheckpoint(found) }
    },
  }),
  route({
    method: 'GET',
    path: '/checkpoints',
    summary: 'List the checkpoints of all runs in pages, newest first, without their values',
    roles: readers,
    query: z.strictObject({ olderThan: age, cursor }),
    body: null,
    replies: { 200: z.object({ items: z.array(checkpointShape), cursor: z.string().optional() }) },
    async handle({ client, rights, query }) {
      const filter = omitUndefined(query) as { readonly olderThan?: Duration; readonly cursor?: string }
      const { items, cursor: next } = await client.checkpoints.listAll(filter)
      const seen = await keepSeen(client, rights, items)
      return { status: 200, body: omitUndefined({ items: seen.map(showBrief), cursor: next }) }
    },
  }),
  route({
    method: 'GET',
    path: '/checkpoints/{checkpoint}',
    summary: 'Get a checkpoint by its id, or the latest one of a run, with its value',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: checkpointShape },
    async handle({ client, rights, params }) {
      return { status: 200, body: showCheckpoint(await findSeen(client, rights, params.checkpoint)) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/checkpoints/{checkpoint}',
    summary: 'Delete a checkpoint by its id, or all checkpoints of a run',
    roles: operators,
    query: z.strictObject({}),
    body: null,
    replies: { 200: deleted },
    async handle({ client, rights, params, identity, note }) {
      const found = await findSeen(client, rights, params.checkpoint)
      rights.checkRun('checkpoint', await seenRun(client, rights, found.run))
      const by = { by: identity.actor }
      const deleted = await client.checkpoints.delete(readId(params.checkpoint), by)
      note(`Checkpoints of run "${found.run}" were deleted`, { run: found.run, deleted })
      return { status: 200, body: { deleted } }
    },
  }),
  route({
    method: 'POST',
    path: '/checkpoints/cleanup',
    summary: 'Delete the checkpoints of all runs that match all that is given',
    roles: admins,
    query: z.strictObject({}),
    body: z.strictObject({
      olderThan: age,
      keep: z.number().optional().meta({ description: 'How many each run keeps, the newest' }),
      onlyFinished: z.boolean().optional().meta({ description: 'Only those of runs that have ended' }),
    }),
    replies: { 200: deleted },
    async handle({ client, rights, body, identity, note }) {
      if (rights.isNarrowed)
        throw new ServerError(
          'not-allowed',
          'A cleanup deletes checkpoints of all runs, also of runs that `may` hides. Delete those of single runs.',
        )
      const { olderThan, ...rest } = omitUndefined(body)
      const what = { ...rest, ...(olderThan === undefined ? {} : { olderThan: olderThan as Duration }) }
      const deleted = await client.checkpoints.cleanup(what, { by: identity.actor })
      note('Checkpoints of all runs were cleaned up', { ...what, deleted })
      return { status: 200, body: { deleted } }
    },
  }),
]

function showBrief({ state: _, ...rest }: Checkpoint): ReturnType<typeof showCheckpoint> {
  return showCheckpoint({ ...rest, state: undefined })
}

async function findSeen(client: Client, rights: Rights, segment: string): Promise<Checkpoint> {
  const found = await client.checkpoints.load(readId(segment))
  const [seen] = found === null ? [] : await keepSeen(client, rights, [found])
  if (seen === undefined) throw notFound(segment)
  return seen
}

/** Leaves out those of runs that the identity may not see. */
async function keepSeen(
  client: Client,
  rights: Rights,
  checkpoints: readonly Checkpoint[],
): Promise<readonly Checkpoint[]> {
  if (rights.seesAll) return checkpoints.filter(({ run }) => rights.seesRunId(run))
  const seen = new Set<string>()
  for (const run of new Set(checkpoints.map(({ run }) => run)))
    try {
      seen.add((await seenRun(client, rights, run)).id)
    } catch (error) {
      if (!PawlError.is(error, 'run-not-found')) throw error
    }
  return checkpoints.filter(({ run }) => seen.has(run))
}

function notFound(segment: string): ServerError {
  return new ServerError('not-found', `There is no checkpoint ${readId(segment)}, and no run with one.`)
}
