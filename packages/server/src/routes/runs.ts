import {
  type Client,
  type Duration,
  PawlError,
  type RunView,
  type RunWithFacts,
  type RunWithValues,
} from '@pawl/core'
import { isBuiltIn } from '@pawl/core/internal'
import { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import { admins, everyone, operators, readers } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { untilAborted } from '../base/until-aborted.ts'
import { readPart } from '../http/answers.ts'
import { ServerError } from '../http/problem.ts'
import { hasEnded } from '../json/ended.ts'
import { readId } from '../json/ids.ts'
import { boundedList } from '../json/lists.ts'
import { writePayload } from '../json/payload.ts'
import { logEntryShape, type RunJson, runShape } from '../json/shapes.ts'
import { showEntry, showFacts, showRun, showValues } from '../json/views.ts'
import { cursor, limit, wait } from './query.ts'
import { type Route, route } from './route.ts'

const statuses = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(runShape.shape.status))
  .optional()
  .meta({ description: 'One or several, separated by commas' })

export const runRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs',
    summary:
      'List runs, newest first. Those of Pawl itself are listed only for role admin, by procedure, tag or parent',
    roles: readers,
    query: z.strictObject({
      procedure: z.string().optional(),
      status: statuses,
      tag: z.string().optional(),
      parent: z.string().optional().meta({ description: 'Id of a run: lists its children' }),
      rollback: z
        .literal('failed')
        .optional()
        .meta({ description: 'Only runs with an undo that failed or did not run' }),
      limit,
      cursor,
    }),
    body: null,
    replies: { 200: z.object({ items: z.array(runShape), cursor: z.string().optional() }) },
    async handle({ client, rights, query }) {
      if (query.procedure !== undefined) rights.checkProcedure(query.procedure)
      const { items, cursor: next } = await client.list(omitUndefined(query))
      const isShown = ({ procedure }: RunView): boolean =>
        query.procedure !== undefined ||
        query.tag !== undefined ||
        query.parent !== undefined ||
        !isBuiltIn(procedure)
      const seen = items.filter((run) => isShown(run) && rights.seesRun(run)).map(showRun)
      return { status: 200, body: { items: seen, ...(next === undefined ? {} : { cursor: next }) } }
    },
  }),
  route({
    method: 'POST',
    path: '/runs',
    summary: 'Start a run; the same id starts it once',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({
      procedure: z.string(),
      input: z.unknown().optional(),
      id: z.string().optional().meta({ description: 'Default: the header Idempotency-Key, else generated' }),
      tags: boundedList(z.string(), { max: 100 }).optional(),
      timeout: z
        .string()
        .optional()
        .meta({ description: 'Cancels the run after this time, such as 1h. Default: never' }),
      existing: z
        .enum(['same-input', 'any'])
        .optional()
        .meta({ description: 'Which existing run with this id is returned. Default: same-input' }),
    }),
    replies: { 201: runShape, 200: runShape },
    async handle({ client, procedureOf, rights, body, identity, idempotencyKey }) {
      const { procedure, tags = [], existing = 'same-input', timeout } = body
      const id = body.id ?? idempotencyKey
      if (id === undefined && existing === 'any')
        throw new ServerError('request-invalid', '`existing: "any"` requires an `id`.')
      rights.checkStart({ id, procedure, tags })
      const before = id === undefined ? null : await runWithId(client, rights, id)
      const hasInput = Object.hasOwn(body, 'input')
      const input = hasInput ? readPart('input', body.input) : undefined
      const options = { by: identity.actor, tags, timeout: timeout as Duration | undefined }
      const started =
        existing === 'any' && id !== undefined
          ? await client.runOrGet(procedureOf(procedure), input, { ...options, id })
          : await client.run(procedureOf(procedure), input, { ...options, id })
      return { status: before === null ? 201 : 200, body: showRun(await started.status()) }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}',
    summary: 'Get a run, optionally after waiting for its end, with its values and facts about it',
    roles: everyone,
    query: z.strictObject({
      wait,
      values: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Whether its input, output and exposed values are included. Default: false' }),
      facts: z.enum(['true', 'false']).optional().meta({
        description:
          'Whether its worker, counts, usage, and what the caller can do with it are included. Default: false',
      }),
    }),
    body: null,
    replies: { 200: runShape },
    async handle({ client, rights, params, query, signal }) {
      const run = await seenRun(client, rights, params.run)
      const handle = client.get(run.id)
      if (query.wait !== undefined && !hasEnded(run)) {
        const waiting = handle.result({ timeout: query.wait as Duration })
        await untilAborted(waiting, signal).catch(ignoreOutcome)
      } else if (query.values !== 'true' && query.facts !== 'true') return { status: 200, body: showRun(run) }
      return { status: 200, body: await readRun(client, rights, run.id, query) }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}/result',
    summary: 'Get the output of a run; 202 while it has none',
    roles: everyone,
    query: z.strictObject({ wait }),
    body: null,
    replies: { 200: z.object({ output: z.unknown() }), 202: runShape },
    async handle({ client, rights, params, query, signal }) {
      const run = await seenRun(client, rights, params.run)
      const handle = client.get(run.id)
      const timeout = (query.wait ?? '1ms') as Duration
      try {
        if (query.wait === undefined && !hasEnded(run) && !isUnhealthy(run))
          return { status: 202, body: showRun(run) }
        const output = await untilAborted(handle.result({ timeout }), signal)
        return { status: 200, body: { output: writePayload(output) } }
      } catch (error) {
        if (!PawlError.is(error, 'wait-timed-out')) throw error
        return { status: 202, body: showRun(await handle.status()) }
      }
    },
  }),
  route({
    method: 'GET',
    path: '/runs/{run}/log',
    summary: 'Read the execution log of a run, newest entries first',
    roles: everyone,
    query: z.strictObject({
      before: position(0).meta({ description: 'Only positions below this' }),
      after: position(-1).meta({ description: 'Only positions above this, from the oldest on' }),
      limit,
    }),
    body: null,
    replies: {
      200: z.object({
        items: z.array(logEntryShape),
        before: z.number().optional().meta({ description: 'Pass it on for the next page' }),
        after: z
          .number()
          .optional()
          .meta({ description: 'Where `after` was given: pass it on for the next page' }),
      }),
    },
    async handle({ client, rights, params, query }) {
      const run = await seenRun(client, rights, params.run)
      const { before, after, limit = 50 } = query
      const range = omitUndefined({ before, after })
      const { execution_log: entries } = await client.log(run.id, { ...range, limit: limit + 1 })
      const page = after === undefined ? entries.slice(-limit) : entries.slice(0, limit)
      const isLast = entries.length <= limit
      const [first, last] = [page[0]?.position, page.at(-1)?.position]
      const rest = isLast ? {} : after === undefined ? { before: first } : { after: last }
      return { status: 200, body: { items: page.map(showEntry).reverse(), ...rest } }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/signals/{name}',
    summary: 'Send a signal; the same Idempotency-Key is delivered once',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({ payload: z.unknown().optional() }),
    replies: { 202: z.object({ stored: z.literal(true) }) },
    async handle({ client, rights, params, body, identity, idempotencyKey }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('signal', run)
      const payload = Object.hasOwn(body, 'payload') ? readPart('payload', body.payload) : undefined
      const options = omitUndefined({ id: idempotencyKey, by: identity.actor })
      await client.get(run.id).signal(params.name, payload, options)
      return { status: 202, body: { stored: true } }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/cancel',
    summary: 'Cancel a run; a run that has ended stays as it is',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({ reason: z.string().optional() }),
    replies: { 202: runShape },
    async handle({ client, rights, params, body, identity }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('cancel', run)
      await client.cancel(run.id, body.reason, { by: identity.actor })
      return { status: 202, body: showRun(await client.get(run.id).status()) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/runs/{run}',
    summary: 'Delete a run that has ended or is quarantined; the decisions made in it are kept',
    roles: admins,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ deleted: z.literal(true) }) },
    async handle({ client, rights, params, identity, note }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('delete', run)
      await client.delete(run.id, { by: identity.actor })
      note(`Run "${run.id}" was deleted`, { run: run.id })
      return { status: 200, body: { deleted: true } }
    },
  }),
]

/** Reads a run with what a request asks for beside it. */
async function readRun(
  client: Client,
  rights: Rights,
  id: string,
  query: { readonly values?: string | undefined; readonly facts?: string | undefined },
): Promise<RunJson> {
  const asked = { values: query.values === 'true', facts: query.facts === 'true' }
  const { values, facts, ...run }: RunView & Partial<RunWithValues & RunWithFacts> = await client
    .get(id)
    .status(asked)
  return {
    ...showRun(run),
    ...(values && { values: showValues(values) }),
    ...(facts && { facts: showFacts(rights.narrowFacts(run, facts)) }),
  }
}

function position(min: number) {
  return z.coerce.number().int().min(min).optional()
}

/** @throws PawlError 'run-not-found', also if the identity may not see it */
export async function seenRun(client: Client, rights: Rights, id: string): Promise<RunView> {
  const run = await client.get(readId(id)).status()
  if (!rights.seesRuns) {
    const visible = rights.names === null ? {} : { visibleTo: rights.names }
    const { items } = await client.inbox.list({ run: run.id, ...visible, limit: 500 })
    if (!items.some((ask) => rights.seesAsk(ask))) throw new PawlError('run-not-found', { run: run.id })
  }
  rights.checkRun('see', run)
  return run
}

/** Returns the run whose id a request wants for a new one; null if there is none. @throws PawlError 'id-taken' (it may not see it) */
export async function runWithId(client: Client, rights: Rights, id: string): Promise<RunView | null> {
  const run = await client
    .get(id)
    .status()
    .catch((error: unknown) => {
      if (PawlError.is(error, 'run-not-found')) return null
      throw error
    })
  if (run !== null && !rights.seesRun(run)) throw new PawlError('id-taken', { id })
  return run
}

function isUnhealthy({ status }: RunView): boolean {
  return status === 'stuck' || status === 'quarantined'
}

/** The reply is the state of the run, in whichever way the wait ended. */
function ignoreOutcome(error: unknown): void {
  if (!PawlError.is(error) || error.code === 'engine-stopped' || error.code === 'store-unusable') throw error
}
