import { createEngine, type Engine, type Procedure, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { seed } from '../../../../test/support/seed.ts'
import { problemShape } from '../../src/json/shapes.ts'
import type { Route } from '../../src/routes/route.ts'
import { routes } from '../../src/routes/table.ts'
import { type Fuzzed, requestsTo, type Thing } from '../support/requests.ts'
import { byToken, dispatchOf, requestOf, silent } from '../support/server.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] as const }

interface Talk {
  signals: { paid: unknown }
  updates: { paid: { input: unknown; output: unknown } }
  state: { paid: number }
}

/** Has something for every route. */
const refund: Procedure<{ amount: number } | undefined, string, Talk> = procedure(
  {
    ...{ name: 'refund', output: z.string() },
    input: z.object({ amount: z.number() }).default({ amount: 45 }),
    signals: { paid: z.unknown() },
    updates: { paid: { input: z.unknown(), output: z.unknown() } },
    state: { paid: z.number() },
  },
  async (ctx, { amount }) => {
    ctx.on('paid', (input) => input)
    ctx.expose('paid', amount)
    await ctx.human.notify('Someone wants a refund')
    const approval = await ctx.human.approve('Refund {amount} EUR?', {
      ...{ params: { amount }, editable: ['amount'] },
      ...{ to: 'group:support', key: 'approve' },
    })
    return approval.approved ? `refunded ${approval.params.amount}` : 'declined'
  },
)

test(`2,000 requests made from the schemas get replies that fit theirs, and none with status 500 (SEED=${seed})`, async () => {
  const engine = await createEngine({ store: memory(), procedures: [refund], logger: silent })
  const scene = await Promise.all(Array.from({ length: 300 }, (_, index) => begin(engine, index)))
  const perMinute = { reads: 10_000, writes: 10_000, failures: 10_000 }
  const { dispatch, faults } = dispatchOf({ client: engine, auth: byToken, links }, { perMinute })
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(requestsTo(routes, scene), async (fuzzed) => {
      const { route, token, path, body, headers } = fuzzed
      const reply = await dispatch(requestOf(token, route.method, path, body, headers))
      const problem = await checkReply(route, reply)
      expect({ fuzzed: show(fuzzed), faults, problem }).toEqual({
        fuzzed: show(fuzzed),
        faults: [],
        problem: null,
      })
      const kind = `${route.method} ${route.path} ${reply.status < 300 ? 'done' : 'refused'}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }),
    { numRuns: 2000, seed },
  )
  await engine.stop()
  // Requests that are all refused show nothing. There are no hooks, and bytes made at random are no exported run.
  const possible = routes.filter(({ path, takes }) => !path.startsWith('/hooks') && takes !== 'bytes')
  const refused = possible.filter(({ method, path }) => !seen.has(`${method} ${path} done`))
  expect(refused.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

/** Begins a run that asks a question and has a checkpoint. One in five is cancelled then. */
async function begin(engine: Engine, index: number): Promise<Thing> {
  const run = `refund:${index}`
  const handle = await engine.run(refund, { amount: 45 }, { id: run })
  const { id: ask, digest } = await engine.inbox.next({ run })
  const { id: checkpoint } = await engine.checkpoints.create(run, { amount: 45 })
  const isOver = index % 5 === 0
  if (isOver) {
    await engine.cancel(run)
    await handle.result().catch(() => {})
  }
  return { run, ask, digest, checkpoint, isOver }
}

/** What is wrong with a reply, or null. */
async function checkReply(route: Route, reply: Response): Promise<string | null> {
  const { status } = reply
  if (route.isStream && status < 300) return checkStream(reply)
  if (route.sends === 'bytes' && status < 300) return checkFile(reply)
  const body: unknown = JSON.parse(await reply.text())
  if (status >= 500 && status !== 503) return `status ${status}`
  const schema = status < 300 ? route.replies[status] : problemShape
  if (schema === undefined) return `no schema for status ${status}`
  const isProblem = reply.headers.get('content-type') === 'application/problem+json'
  if (isProblem !== status >= 300) return 'the wrong content type'
  const parsed = schema.safeParse(body)
  return parsed.success ? null : parsed.error.message
}

/** Of a stream the head, which is all that is sent for sure. */
async function checkStream(reply: Response): Promise<string | null> {
  await reply.body?.cancel()
  const type = reply.headers.get('content-type')
  return reply.status === 204 || type === 'text/event-stream' ? null : `the content type is ${type}`
}

/** A file is sent to its end. */
async function checkFile(reply: Response): Promise<string | null> {
  const { byteLength } = await reply.arrayBuffer()
  const type = reply.headers.get('content-type')
  return byteLength > 0 && type === 'application/octet-stream' ? null : `${byteLength} bytes of ${type}`
}

function show({ route, path, body }: Fuzzed): string {
  return `${route.method} ${path} ${JSON.stringify(body)?.slice(0, 500)}`
}
