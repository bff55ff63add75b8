import type { Client, ForkChanges, ForkPoint, RunView } from '@pawl/core'
import { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import { operators } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { readPart } from '../http/answers.ts'
import { ServerError } from '../http/problem.ts'
import { previewShape, runShape } from '../json/shapes.ts'
import { showPreview, showRun } from '../json/views.ts'
import type { Identity } from '../types.ts'
import { type Call, type Route, route } from './route.ts'
import { runWithId, seenRun } from './runs.ts'

const changes = {
  position: z.number().int().min(0).optional().meta({
    description: 'The fork continues just before the result at this position. Give this or `checkpoint`',
  }),
  checkpoint: z.string().optional().meta({
    description:
      'Id of a checkpoint or an ask of the run: the fork has what the run had recorded by then. Give this or `position`',
  }),
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
    async handle({ client, rights, params, identity, note }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('retry', run)
      await retryAs(identity, client, run, note)
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
      const from = readPlace(body)
      const run = await seenRun(client, rights, params.run)
      const id = body.id ?? idempotencyKey
      rights.checkRun('fork', run)
      rights.checkStart({ id, procedure: run.procedure, tags: run.tags })
      const edits = readEdits(rights, body.edit)
      // A client whose reply was lost sends the same request again.
      const before = id === undefined ? null : await runWithId(client, rights, id)
      if (before === null) await checkPlace(client, run.id, from)
      const changes = omitUndefined({ ...edits, id, by: identity.actor }) as ForkChanges
      const fork = await client.fork(run.id, from, changes)
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
    async handle({ client, rights, params, body }) {
      const from = readPlace(body)
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('fork', run)
      await checkPlace(client, run.id, from)
      const preview = await client.previewFork(run.id, from, readEdits(rights, body.edit))
      return { status: 200, body: showPreview(preview) }
    },
  }),
]

/** Retries a run. Only that of a failed run leaves something in its log. */
export async function retryAs(
  { actor }: Identity,
  client: Client,
  { id: run, status }: RunView,
  note: Call<unknown, unknown, unknown>['note'],
): Promise<void> {
  await client.retry(run, { by: actor })
  if (status === 'stuck' || status === 'quarantined')
    note(`Run "${run}" was ${status} and is retried`, { run })
}

interface PlaceBody {
  readonly position?: number | undefined
  readonly checkpoint?: string | undefined
}

/** Reads where the fork leaves its original. @throws ServerError 'request-invalid' */
function readPlace({ position, checkpoint }: PlaceBody): ForkPoint {
  if (position !== undefined && checkpoint !== undefined)
    throw new ServerError(
      'request-invalid',
      'Give `position` or `checkpoint`, not both: a fork leaves its original at one place.',
    )
  if (position !== undefined) return { position }
  if (checkpoint !== undefined) return { checkpoint }
  throw new ServerError(
    'request-invalid',
    'Give `position`, such as 3, or `checkpoint`, the id of a checkpoint or an ask of the run: the place where the fork leaves its original.',
  )
}

/** A checkpoint of a run that the identity may not see does not exist for it. @throws ServerError 'not-found' */
async function checkPlace(client: Client, run: string, { checkpoint }: ForkPoint): Promise<void> {
  if (checkpoint === undefined) return
  const found = (await client.checkpoints.load(checkpoint)) ?? (await client.inbox.get(checkpoint))
  if (found?.run !== run)
    throw new ServerError('not-found', `Run ${run} has no checkpoint and no ask ${checkpoint}.`)
}

/** Reads the edited results. The answer to an ask may be edited only by an identity that may answer it. */
function readEdits(rights: Rights, edits: Readonly<Record<string, unknown>> = {}): ForkChanges {
  const entries = Object.entries(edits).map(([position, value]) => [
    position,
    readPart(`edit.${position}`, value),
  ])
  const { checkEdit: checkAnswer, checkKept } = rights
  return {
    ...(checkKept === undefined ? {} : { checkKept }),
    ...(entries.length === 0 ? {} : { edit: Object.fromEntries(entries), checkAnswer }),
  }
}
