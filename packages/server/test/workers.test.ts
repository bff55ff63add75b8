import { createClient, createEngine, type Procedure, procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { byToken, refund, send, silent, startServer } from './support/server.ts'

const bare: Procedure<undefined, void> = procedure({ name: 'bare', version: 2 }, async (ctx) => {
  await ctx.human.approve('Continue?', { timeout: '1ms', onTimeout: 'escalate' })
})
/** A schema without JSON Schema. */
const custom = z.custom<string>((value) => typeof value === 'string')

test('lists the live workers of a store, with their lease, runs and procedures', async () => {
  await using server = await startServer({ procedures: [bare] })
  const { body } = await server.call('wim', 'GET', '/v1/workers')
  expect(body.items).toEqual([
    {
      name: expect.stringMatching(/./),
      startedAt: expect.stringMatching(/Z$/),
      seenAt: expect.stringMatching(/Z$/),
      leaseEndsAt: expect.stringMatching(/Z$/),
      runs: expect.any(Number),
      procedures: [
        { name: 'refund', version: 1 },
        { name: 'long', version: 1 },
        { name: 'bare', version: 2 },
      ],
    },
  ])
  const [{ seenAt, leaseEndsAt }] = body.items
  expect(Date.parse(leaseEndsAt)).toBeGreaterThan(Date.parse(seenAt))
})

test('lists each version of a procedure once, with its input schema and its workers', async () => {
  const store = memory()
  const odd = procedure({ name: 'odd', input: custom }, async () => {})
  const engines = [
    await createEngine({ store, procedures: [refund, bare], logger: silent }),
    await createEngine({ store, procedures: [refund, odd], logger: silent }),
  ]
  const client = createClient({ store })
  const server = createServer({ client, auth: byToken, logger: silent })
  const { body } = await send(server.fetch, 'wim', 'GET', '/v1/procedures')
  expect(body.items).toEqual([
    { name: 'bare', version: 2, takesInput: false, workers: 1 },
    { name: 'odd', version: 1, takesInput: true, workers: 1, input: expect.any(Object) },
    {
      name: 'refund',
      version: 1,
      takesInput: true,
      workers: 2,
      input: expect.objectContaining({ type: 'object', properties: { amount: { type: 'number' } } }),
    },
  ])
  for (const engine of engines) await engine.stop()
  expect((await send(server.fetch, 'wim', 'GET', '/v1/procedures')).body).toEqual({ items: [] })
  await server.stop()
  await client.stop()
})

test('lists no procedure that `may` does not let the identity start', async () => {
  await using server = await startServer({
    may: (_identity, verb, thing) =>
      verb !== 'start' || !('procedure' in thing && thing.procedure === 'long'),
  })
  const { body } = await server.call('olga', 'GET', '/v1/procedures')
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['refund'])
})

test('writes metrics in the text format of Prometheus', async () => {
  await using server = await startServer({ procedures: [bare] })
  await server.engine.run(bare, undefined, { id: 'bare:1' })
  await server.engine.inbox.next({ run: 'bare:1' })
  while ((await server.engine.inbox.count({ overdue: true })).count === 0);
  await server.call(null, 'GET', '/v1/me')
  const reply = await server.call('wim', 'GET', '/metrics')
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = (reply.body as string).trimEnd().split('\n')
  for (const line of lines)
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \d+(\.\d+)?)$/)
  expect(lines).toEqual(
    expect.arrayContaining([
      'pawl_workers 1',
      'pawl_asks_open 1',
      'pawl_asks_overdue 1',
      'pawl_runs_unhealthy{mark="stuck"} 0',
      'pawl_runs_due 0',
      'pawl_oldest_due_run_seconds 0',
      'pawl_feed_events_total 1',
      'pawl_http_streams 0',
      'pawl_http_replies_total{method="GET",status="401"} 1',
    ]),
  )
})

test('tells how long the oldest due run waits for a worker', async () => {
  let now = 1_000_000
  const store = memory({ now: () => now })
  const client = createClient({ store })
  await client.run(bare, undefined, { id: 'bare:1' })
  now += 90_000
  const server = createServer({ client, auth: byToken, logger: silent })
  const { body } = await send(server.fetch, 'wim', 'GET', '/metrics')
  expect(body).toContain('\npawl_runs_due 1\n')
  expect(body).toContain('\npawl_oldest_due_run_seconds 90\n')
  await server.stop()
  await client.stop()
})

test('shows metrics to no identity from which `may` hides things, but to an admin', async () => {
  await using server = await startServer({ may: () => true })
  expect((await server.call('wim', 'GET', '/metrics')).status).toBe(403)
  expect((await server.call('ana', 'GET', '/metrics')).status).toBe(403)
  expect((await server.call(null, 'GET', '/metrics')).status).toBe(401)
  expect((await server.call('root', 'GET', '/metrics')).status).toBe(200)
})
