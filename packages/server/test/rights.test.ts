import { createEngine, type Engine, type Procedure, procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { readFrames } from '../../../test/support/http/sse.ts'
import { byToken, refund, requestOf, send, silent, startServer, type TestServer } from './support/server.ts'

/** Opens 500 urgent asks, and one with the key `last` that comes after them in every list. */
const crowded: Procedure<undefined, void> = procedure({ name: 'crowded' }, async (ctx) => {
  const urgent = { risk: 'high', to: 'group:support' } as const
  await Promise.all([
    ctx.human.approve('First?', { ...urgent, key: 'first' }),
    ...Array.from({ length: 499 }, (_, n) => ctx.human.approve(`Number ${n}?`, urgent)),
    ctx.human.approve('Last?', { to: 'group:sales', key: 'last' }),
  ])
})

async function openTenant(name: string): Promise<{ readonly engine: Engine; readonly run: string }> {
  const engine = await createEngine({ store: memory(), procedures: [refund], logger: silent })
  const run = `${name}:1`
  await engine.run(refund, { amount: 45 }, { id: run })
  await engine.inbox.next({ run })
  return { engine, run }
}

async function ask({ engine }: TestServer, by: `user:${string}` = 'user:zoe'): Promise<string> {
  const run = await engine.run(refund, { amount: 45 }, { id: 'refund:1', by })
  return (await engine.inbox.next({ run: run.id })).id
}

const answerOf = (id: string) => `/v1/asks/${encodeURIComponent(id)}/answer`
const approved = { approved: true }

test('lets only an admin answer before the question is asked, as its people are unknown', async () => {
  await using server = await startServer({ showRuns: true })
  await ask(server)
  const early = '/v1/runs/refund:1/asks/later/answer'
  expect(await server.call('ana', 'POST', early, approved)).toMatchObject({ status: 403 })
  expect(await server.call('olga', 'POST', early, approved)).toMatchObject({ status: 403 })
  expect(await server.call('root', 'POST', early, approved)).toMatchObject({ status: 202 })
})

test('refuses an answer by key to an ask that is addressed to others', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const byKey = '/v1/runs/refund:1/asks/approve/answer'
  expect(await server.call('eve', 'POST', byKey, approved)).toMatchObject({
    status: 404,
    body: { code: 'ask-not-found' },
  })
  expect(await server.engine.inbox.get(id)).toMatchObject({ status: 'open' })
})

test('asks `may` about an ask by its key, also behind 500 other open asks of its run', async () => {
  await using server = await startServer({
    procedures: [crowded],
    // Allows answers to all asks but this one.
    may: (_identity, verb, thing) => verb !== 'answer' || !('key' in thing && thing.key === 'last'),
  })
  await server.engine.run(crowded, undefined, { id: 'crowded:1' })
  let count = 0
  while (count < 501) ({ count } = await server.engine.inbox.count({ run: 'crowded:1' }))
  const byKey = (key: string) => `/v1/runs/crowded:1/asks/${key}/answer`
  expect(await server.call('root', 'POST', byKey('last'), approved)).toMatchObject({
    status: 403,
    body: { code: 'not-allowed' },
  })
  expect((await server.engine.inbox.count({ run: 'crowded:1' })).count).toBe(501)
  expect(await server.call('root', 'POST', byKey('first'), approved)).toMatchObject({ status: 202 })
})

test('who may not answer makes no link that answers without a login', async () => {
  await using server = await startServer({
    procedures: [crowded],
    may: ({ actor }, verb) => verb !== 'answer' || actor !== 'user:root',
    links: { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] },
  })
  await server.engine.run(crowded, undefined, { id: 'crowded:1' })
  const { id } = await server.engine.inbox.next({ run: 'crowded:1' })
  const link = (body: object) => server.call('root', 'POST', `/v1/asks/${encodeURIComponent(id)}/links`, body)
  expect(await link({ as: 'user:zed' })).toMatchObject({ status: 403, body: { code: 'not-allowed' } })
  expect(await link({ as: 'user:zed', login: true })).toMatchObject({ status: 200 })
})

test('shows each identity the store of its own tenant, in lists, counts, streams and answers', async () => {
  const [north, south] = [await openTenant('north'), await openTenant('south')]
  const server = createServer({
    client: ({ actor }) => (actor === 'user:ana' ? north.engine : south.engine),
    auth: byToken,
    logger: silent,
  })
  const call = (token: string, path: string, body?: object) =>
    send(server.fetch, token, body ? 'POST' : 'GET', path, body)
  for (const [token, own, other] of [
    ['ana', north, south],
    ['olga', south, north],
  ] as const) {
    const { items } = (await call(token, '/v1/asks')).body
    expect(items.map(({ run }: { run: string }) => run)).toEqual([own.run])
    expect((await call(token, '/v1/asks/count')).body).toEqual({ count: 1, capped: false })
    const address = (run: string) => `/v1/asks/~${Buffer.from(`${run}/0`).toString('base64url')}`
    expect((await call(token, address(own.run))).status).toBe(200)
    expect((await call(token, address(other.run))).status).toBe(404)
    expect((await call(token, `${address(other.run)}/answer`, approved)).status).toBe(404)
    const stream = await server.fetch(requestOf(token, 'GET', '/v1/events?open=1'))
    for await (const { data } of readFrames(stream)) {
      expect(data.ask).toBe(items[0].id)
      break
    }
  }
  await server.stop()
  await Promise.all([north.engine.stop(), south.engine.stop()])
})

test('refuses the answer of the person who started the run, also through an identity that acts for them', async () => {
  await using server = await startServer({ selfApproval: false })
  const id = await ask(server, 'user:ana')
  const through = `${answerOf(id)}?as=user:ana`
  expect(await server.call('ana', 'POST', answerOf(id), approved)).toMatchObject({ status: 403 })
  expect(await server.call('bot', 'POST', through, approved)).toMatchObject({ status: 403 })
  expect(await server.call('olga', 'POST', answerOf(id), approved)).toMatchObject({ status: 200 })
})

test('asks `may` before a run is started, and hides the existing run that it hides', async () => {
  await using server = await startServer({
    may: (_identity, verb, thing) => verb !== 'start' || thing.procedure !== 'refund',
  })
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1' }
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 403,
    body: { code: 'not-allowed' },
  })
  expect((await server.engine.list()).items).toEqual([])
})

test('does not return an existing run that the identity may not see', async () => {
  await using server = await startServer({ may: (_identity, verb) => verb !== 'see' })
  await ask(server)
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1', existing: 'any' }
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 409,
    body: { code: 'id-taken' },
  })
})

test('accepts a repeated resolution of the same person', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const body = { checkpoint: id, resolution: { decision: 'approve', params: { amount: 41 } } }
  expect((await server.call('ana', 'POST', '/v1/resume', body)).body).toMatchObject({ repeated: false })
  expect((await server.call('ana', 'POST', '/v1/resume', body)).body).toMatchObject({ repeated: true })
  const other = { checkpoint: id, resolution: { decision: 'reject' } }
  expect(await server.call('ana', 'POST', '/v1/resume', other)).toMatchObject({
    status: 409,
    body: { code: 'ask-closed' },
  })
})

test('ends a waiting request when its caller has gone', async () => {
  await using server = await startServer()
  await ask(server)
  const caller = new AbortController()
  const waiting = server.server.fetch(
    new Request('http://127.0.0.1/v1/runs/refund:1?wait=60s', {
      headers: { host: '127.0.0.1', authorization: 'Bearer wim' },
      signal: caller.signal,
    }),
  )
  caller.abort()
  expect((await waiting).status).toBe(503)
})
