import type { Client, ForkChanges } from '@pawl/core'
import { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { readPart } from '../json/answers.ts'
import { previewShape, runShape } from '../json/shapes.ts'
import { showPreview, showRun } from '../json/views.ts'
import type { Identity } from '../types.ts'
import { operators, type Route, route } from './route.ts'
import { runWithId, seenRun } from './runs.ts'

const changes = {
  position: z
    .number()
    .int()
    .min(0)
    .meta({ description: 'The fork continues just before the result at this position' }),
  edit: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Results to be replaced, by position' }),
}

/** Runs that are done again, wholly or in part, and what of them will be. */
export const repeatRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/runs/{run}/retry',
    summary: 'Retry a failed run, a stuck one, or one quarantined for crashes',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({}),
    replies: { 202: runShape },
    async handle({ client, rights, params }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('retry', run)
      await client.retry(run.id)
      return { status: 202, body: showRun(await client.get(run.id).status()) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/retry/preview',
    summary: 'Say what a retry would keep and do again. Changes nothing',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({}),
    replies: { 200: previewShape },
    async handle({ client, rights, params }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('retry', run)
      return { status: 200, body: showPreview(await client.previewRetry(run.id)) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/fork',
    summary: 'Start a run that shares the past of another one; the same id starts it once',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({
      ...changes,
      id: z.string().optional().meta({ description: 'Default: the header Idempotency-Key, else generated' }),
    }),
    replies: { 201: runShape, 200: runShape },
    async handle({ client, rights, params, body, identity, idempotencyKey }) {
      const run = await seenRun(client, rights, params.run)
      const id = body.id ?? idempotencyKey
      rights.checkRun('fork', run)
      rights.checkStart({ id, procedure: run.procedure, tags: run.tags })
      const edit = await readEdits(client, rights, identity, run.id, body.edit)
      const { position } = body
      // A client whose reply was lost sends the same request again.
      const before = id === undefined ? null : await runWithId(client, rights, id)
      const changes = omitUndefined({ edit, id, by: identity.actor }) as ForkChanges
      const fork = await client.fork(run.id, { position }, changes)
      return { status: before === null ? 201 : 200, body: showRun(await fork.status()) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/fork/preview',
    summary: 'Say what a fork would keep and do again. Starts nothing',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject(changes),
    replies: { 200: previewShape },
    async handle({ client, rights, params, body, identity }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('fork', run)
      const edit = await readEdits(client, rights, identity, run.id, body.edit)
      const { position } = body
      const preview = await client.previewFork(run.id, { position }, omitUndefined({ edit }) as ForkChanges)
      return { status: 200, body: showPreview(preview) }
    },
  }),
]

/** Reads the edited results. The answer to an ask may be edited only by an identity that may answer it. */
async function readEdits(
  client: Client,
  rights: Rights,
  { actor }: Identity,
  run: string,
  edits: Readonly<Record<string, unknown>> = {},
): Promise<ForkChanges['edit']> {
  const entries: [string, unknown][] = []
  for (const [position, value] of Object.entries(edits)) {
    const ask = /^\d{1,10}$/.test(position) ? await client.inbox.get(`${run}/${position}`) : null
    if (ask) rights.checkAnswer(ask, actor)
    entries.push([position, readPart(`edit.${position}`, value)])
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
