import { z } from 'zod'
import { admins } from '../auth/roles.ts'
import { runShape } from '../json/shapes.ts'
import { showRun } from '../json/views.ts'
import { type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

/** An export contains the whole run, also parts that its readers may not see. */
export const exportRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs/{run}/export',
    summary:
      'Export a run: its log with its hash chain, its mail, its asks, its checkpoints and what it exposes',
    roles: admins,
    query: z.strictObject({}),
    body: null,
    replies: { 200: fileShape() },
    sends: 'bytes',
    async handle({ client, rights, params, identity, note }) {
      const run = await seenRun(client, rights, params.run)
      rights.checkRun('export', run)
      note(`Run "${run.id}" is exported`, { run: run.id })
      return { bytes: client.exportStream(run.id, { by: identity.actor }) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/import',
    summary: 'Import an exported run; it is there once all of it is verified and stored',
    roles: admins,
    query: z.strictObject({
      id: z.string().optional().meta({
        description: 'Id of the imported run, if it has completed or was cancelled. Default: its own',
      }),
    }),
    body: fileShape(),
    takes: 'bytes',
    replies: { 201: runShape },
    async handle({ client, rights, query, body, identity, note }) {
      const { id } = query
      const run = await client.import(body, {
        ...(id === undefined ? {} : { id }),
        check: (imported) => rights.checkStart(imported),
        by: identity.actor,
      })
      note(`Run "${run.id}" was imported`, { run: run.id })
      return { status: 201, body: showRun(await run.status()) }
    },
  }),
]

function fileShape() {
  return z.custom<AsyncIterable<Uint8Array>>().meta({ type: 'string', format: 'binary' })
}
