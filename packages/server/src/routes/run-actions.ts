import { z } from 'zod'
import { operators } from '../auth/roles.ts'
import { refusalOf } from '../http/problem.ts'
import { boundedList } from '../json/lists.ts'
import { problemShape } from '../json/shapes.ts'
import { retryAs } from './repeats.ts'
import { type Route, route } from './route.ts'
import { seenRun } from './runs.ts'

type Outcomes = z.infer<typeof outcomes>

const outcomes = z.object({
  outcomes: z.array(
    z.object({
      run: z.string(),
      status: z.enum(['accepted', 'refused']),
      problem: problemShape.optional(),
    }),
  ),
})

const runs = boundedList(z.string(), { min: 1, max: 100 }).meta({
  description: 'Ids of runs. A refused one does not hold back the others',
})

/** Actions on several runs. Each run has its own outcome, as if it had been asked for alone. */
export const runActionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/runs/cancel',
    summary: 'Cancel several runs; runs that have ended stay as they are',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({ runs, reason: z.string().optional() }),
    replies: { 200: outcomes },
    async handle({ client, rights, body, identity }) {
      const cancel = async (id: string): Promise<void> => {
        const run = await seenRun(client, rights, id)
        rights.checkRun('cancel', run)
        await client.cancel(run.id, body.reason, { by: identity.actor })
      }
      return { status: 200, body: await forEach(body.runs, cancel) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/retry',
    summary: 'Retry several runs that are failed, stuck or quarantined for crashes',
    roles: operators,
    query: z.strictObject({}),
    body: z.strictObject({ runs }),
    replies: { 200: outcomes },
    async handle({ client, rights, body, identity, note }) {
      const retry = async (id: string): Promise<void> => {
        const run = await seenRun(client, rights, id)
        rights.checkRun('retry', run)
        await retryAs(identity, client, run, note)
      }
      return { status: 200, body: await forEach(body.runs, retry) }
    },
  }),
]

/** Acts on each run in turn. A store that cannot be used ends it: the outcomes of the rest would all be the same. */
async function forEach(ids: readonly string[], act: (id: string) => Promise<void>): Promise<Outcomes> {
  const done: Outcomes['outcomes'] = []
  for (const run of ids)
    try {
      await act(run)
      done.push({ run, status: 'accepted' })
    } catch (error) {
      const problem = refusalOf(error)
      if (problem === null || problem.status === 503) throw error
      done.push({ run, status: 'refused', problem })
    }
  return { outcomes: done }
}
