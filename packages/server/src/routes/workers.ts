import type { Client } from '@pawl/core'
import { readWorkers } from '@pawl/core/internal'
import { z } from 'zod'
import { readers } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { procedureShape, workerShape } from '../json/shapes.ts'
import { type Route, route } from './route.ts'

export const workerRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/workers',
    summary: 'List the live workers, oldest first',
    roles: readers,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ items: z.array(workerShape) }) },
    async handle({ client }) {
      const items = (await readWorkers(client)).map(
        ({ name, startedAt, seenAt, leaseEndsAt, runs, procedures }) =>
          omitUndefined({
            ...{ name, runs },
            startedAt: startedAt?.toISOString(),
            seenAt: seenAt.toISOString(),
            leaseEndsAt: leaseEndsAt.toISOString(),
            procedures: procedures.map(({ name, version }) => ({ name, version })),
          }),
      )
      return { status: 200, body: { items } }
    },
  }),
  route({
    method: 'GET',
    path: '/procedures',
    summary: 'List the procedures that live workers can execute, by name and version',
    roles: readers,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.object({ items: z.array(procedureShape) }) },
    async handle({ client, rights }) {
      const items = await listProcedures(client)
      return { status: 200, body: { items: items.filter(({ name }) => rights.seesProcedure(name)) } }
    },
  }),
]

type Shown = z.infer<typeof procedureShape>

async function listProcedures(client: Client): Promise<readonly Shown[]> {
  const found = new Map<string, Shown>()
  for (const worker of await readWorkers(client))
    for (const { name, version, takesInput, schema } of worker.procedures) {
      const key = JSON.stringify([name, version])
      const known = found.get(key)
      const input = known?.input ?? (schema as Shown['input'])
      found.set(key, {
        ...omitUndefined({ name, version, takesInput: takesInput ?? known?.takesInput, input }),
        workers: (known?.workers ?? 0) + 1,
      } as Shown)
    }
  return [...found.values()].toSorted((a, b) => compareText(a.name, b.name) || b.version - a.version)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
