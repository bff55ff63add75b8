import { createEngine } from '@pawl/core'
import { memory } from '@pawl/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { problemShape } from '../../src/json/shapes.ts'
import type { Route } from '../../src/routes/route.ts'
import { routes } from '../../src/routes/table.ts'
import { type Fuzzed, requestsTo } from '../support/requests.ts'
import { byToken, dispatchOf, identities, refund, requestOf, silent } from '../support/server.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] as const }

test('2,000 requests made from the schemas get replies that fit theirs, and none with status 500', async () => {
  const engine = await createEngine({ store: memory(), procedures: [refund], logger: silent })
  const runs = Array.from({ length: 100 }, (_, index) => `refund:${index}`)
  const asks: string[] = []
  const checkpoints: string[] = []
  for (const id of runs) {
    await engine.run(refund, { amount: 45 }, { id })
    asks.push((await engine.inbox.next({ run: id })).id)
    checkpoints.push((await engine.checkpoints.create(id, { amount: 45 })).id)
  }
  const perMinute = { reads: 10_000, writes: 10_000, failures: 10_000 }
  const { dispatch, faults } = dispatchOf({ client: engine, auth: byToken, links }, { perMinute })
  const tokens = Object.keys(identities)
  const seen = new Map<string, number>()
  const request = fc.tuple(requestsTo(routes, { asks, runs, checkpoints }), fc.constantFrom(...tokens))
  await fc.assert(
    fc.asyncProperty(request, async ([fuzzed, token]) => {
      const { route, path, body, headers } = fuzzed
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
    { numRuns: 2000 },
  )
  await engine.stop()
  // A fuzzer whose requests are all refused shows nothing.
  const succeeded = routes.filter(({ method, path }) => seen.has(`${method} ${path} done`))
  // There are no hooks, and bytes made at random are no exported run.
  const possible = routes.filter(({ path, takes }) => !path.startsWith('/hooks') && takes !== 'bytes')
  expect(succeeded.length).toBeGreaterThan(possible.length * 0.7)
})

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
