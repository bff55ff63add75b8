import { procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { byToken, refund, send, startServer } from './support/server.ts'

test('starts a run once for an id, and returns it again for the same input', async () => {
  await using server = await startServer()
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1', tags: ['eu'] }
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 201,
    body: { id: 'refund:1', tags: ['eu'], startedBy: 'user:olga' },
  })
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 200,
    body: { id: 'refund:1' },
  })
  expect(await server.call('olga', 'POST', '/v1/runs', { ...body, input: { amount: 46 } })).toMatchObject({
    status: 409,
    body: { code: 'id-taken' },
  })
  const any = { ...body, input: { amount: 46 }, existing: 'any' }
  expect(await server.call('olga', 'POST', '/v1/runs', any)).toMatchObject({ status: 200 })
})

test('takes the Idempotency-Key for the id', async () => {
  await using server = await startServer()
  const body = { procedure: 'refund', input: { amount: 45 } }
  const started = await server.call('olga', 'POST', '/v1/runs', body, { 'idempotency-key': 'key:1' })
  expect(started).toMatchObject({ status: 201, body: { id: 'key:1' } })
})

test('returns 202 while a run has no result, and its output once it has', async () => {
  await using server = await startServer()
  await server.call('olga', 'POST', '/v1/runs', {
    procedure: 'refund',
    input: { amount: 45 },
    id: 'refund:1',
  })
  expect(await server.call('wim', 'GET', '/v1/runs/refund:1/result')).toMatchObject({
    status: 202,
    body: { status: expect.stringMatching(/running|waiting/) },
  })
  const waiting = server.call('wim', 'GET', '/v1/runs/refund:1/result?wait=60s')
  const ask = await server.engine.inbox.next({ run: 'refund:1' })
  await server.engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  expect(await waiting).toEqual({ status: 200, headers: expect.anything(), body: { output: 'refunded 45' } })
  const log = await server.call('wim', 'GET', '/v1/runs/refund:1/log')
  expect(log.body).toMatchObject({ items: [{ position: 0, type: 'hitl_approval', status: 'done' }] })
})

test('reads a log in pages from the end and from the beginning', async () => {
  await using server = await startServer()
  await server.call('olga', 'POST', '/v1/runs', { procedure: 'long', id: 'long:1' })
  await server.engine.get('long:1').result()
  const read = async (query: string) => {
    const { body } = await server.call('wim', 'GET', `/v1/runs/long:1/log?${query}`)
    const { items, ...next } = body as { readonly items: readonly { readonly position: number }[] }
    return { positions: items.map(({ position }) => position), ...next }
  }
  expect(await read('limit=3')).toEqual({ positions: [9, 8, 7], before: 7 })
  expect(await read('limit=3&before=2')).toEqual({ positions: [1, 0] })
  expect(await read('limit=3&after=-1')).toEqual({ positions: [2, 1, 0], after: 2 })
  expect(await read('limit=3&after=7')).toEqual({ positions: [9, 8] })
})

test('reports an invalid input that only its worker can judge as the result of the run', async () => {
  const picky = procedure({ name: 'picky', input: z.string().refine((text) => text !== 'x') }, async () => {})
  await using server = await startServer({ procedures: [picky] as never })
  const body = { procedure: 'picky', input: 'x', id: 'picky:1' }
  await server.call('olga', 'POST', '/v1/runs', body)
  expect(await server.call('olga', 'GET', '/v1/runs/picky:1/result?wait=60s')).toMatchObject({
    status: 409,
    body: { code: 'run-failed', details: { cause: { code: 'input-invalid' } } },
  })
})

test.each([
  ['an unknown run', 'GET', '/v1/runs/none', undefined, 404, 'run-not-found'],
  ['an unknown procedure', 'POST', '/v1/runs', { procedure: 'none' }, 404, 'procedure-unknown'],
  ['an unknown field', 'POST', '/v1/runs', { procedure: 'refund', inputs: 1 }, 400, 'request-invalid'],
  ['a status that does not exist', 'GET', '/v1/runs?status=done', undefined, 400, 'request-invalid'],
  ['a wait that is too long', 'GET', '/v1/runs/none?wait=61s', undefined, 400, 'request-invalid'],
  ['a path that does not exist', 'GET', '/v1/nothing', undefined, 404, 'not-found'],
  ['text that is not JSON', 'POST', '/v1/runs', '{', 400, 'request-invalid'],
])('refuses %s', async (_what, method, path, body, status, code) => {
  await using server = await startServer()
  const reply = await server.call('root', method, path, body)
  expect(reply).toMatchObject({ status, body: { status, code, title: code } })
})

test('cancels a run, and says by whom and why', async () => {
  await using server = await startServer()
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1' }
  await server.call('olga', 'POST', '/v1/runs', body)
  await server.engine.inbox.next({ run: 'refund:1' })
  const reason = 'customer called'
  expect(await server.call('olga', 'POST', '/v1/runs/refund:1/cancel', { reason })).toMatchObject({
    status: 202,
    body: { id: 'refund:1', cancelRequestedAt: expect.any(String), cancelReason: reason },
  })
  expect(await server.call('wim', 'GET', '/v1/runs/refund:1/result?wait=60s')).toMatchObject({
    body: { code: 'run-cancelled' },
  })
  expect(await server.call('wim', 'GET', '/v1/runs/refund:1')).toMatchObject({
    body: { status: 'cancelled' },
  })
  expect(await server.call('wim', 'POST', '/v1/runs/refund:1/cancel', {})).toMatchObject({ status: 403 })
  expect(await server.call('olga', 'POST', '/v1/runs/nowhere/cancel', {})).toMatchObject({ status: 404 })
})

test('cancels several runs, and says for each that was refused why', async () => {
  await using server = await startServer({ may: (_who, verb, { id }) => verb === 'see' || id !== 'refund:2' })
  for (const id of ['refund:1', 'refund:2', 'refund:3']) {
    await server.engine.run(refund, { amount: 45 }, { id })
    await server.engine.inbox.next({ run: id })
  }
  const runs = ['refund:1', 'none', 'refund:2', 'refund:3']
  const body = { runs, reason: 'wrong batch' }
  expect(await server.call('olga', 'POST', '/v1/runs/cancel', body)).toMatchObject({
    status: 200,
    body: {
      outcomes: [
        { run: 'refund:1', status: 'accepted' },
        { run: 'none', status: 'refused', problem: { status: 404, code: 'run-not-found' } },
        { run: 'refund:2', status: 'refused', problem: { status: 403, code: 'not-allowed' } },
        { run: 'refund:3', status: 'accepted' },
      ],
    },
  })
  await expect(server.engine.get('refund:3').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect(await server.engine.get('refund:2').status()).toMatchObject({ cancelRequestedAt: undefined })
})

test('retries several stuck runs', async () => {
  const broken = procedure({ name: 'broken' }, async (): Promise<void> => {
    if (isBroken) throw new TypeError('no files')
  })
  let isBroken = true
  await using server = await startServer({ procedures: [broken] })
  for (const id of ['broken:1', 'broken:2'])
    await (await server.engine.run(broken, undefined, { id })).result().catch(() => {})
  expect((await server.engine.list({ status: 'stuck' })).items).toHaveLength(2)
  isBroken = false
  const reply = await server.call('olga', 'POST', '/v1/runs/retry', { runs: ['broken:1', 'broken:2'] })
  expect(reply.body.outcomes.map(({ status }: { status: string }) => status)).toEqual([
    'accepted',
    'accepted',
  ])
  await Promise.all(['broken:1', 'broken:2'].map((id) => server.engine.get(id).result()))
})

test.each([[[]], [Array.from({ length: 101 }, (_, index) => `refund:${index}`)]])(
  'refuses an action on none or on more than a hundred runs',
  async (runs) => {
    await using server = await startServer()
    expect(await server.call('olga', 'POST', '/v1/runs/cancel', { runs })).toMatchObject({ status: 400 })
  },
)

test('lists the children of a run, and each names its parent', async () => {
  const child = procedure({ name: 'child' }, (ctx) => ctx.sleep('1h'))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    await ctx.spawn(child, undefined, { id: 'c0' })
    await ctx.call(child, undefined, { id: 'c1' })
  })
  await using server = await startServer({ procedures: [parent, child] })
  await server.call('olga', 'POST', '/v1/runs', { procedure: 'parent', id: 'p' })
  await server.call('wim', 'GET', '/v1/runs/c1?wait=1s')
  await vi.waitFor(async () => {
    const { body } = await server.call('wim', 'GET', '/v1/runs?parent=p')
    expect(body.items).toMatchObject([
      { id: 'c1', parent: { run: 'p', position: 1 } },
      { id: 'c0', parent: { run: 'p', position: 0 } },
    ])
  })
  expect((await server.call('wim', 'GET', '/v1/runs?parent=c0')).body).toEqual({ items: [] })
  expect((await server.call('wim', 'GET', '/v1/runs/p/log')).body.items).toMatchObject([
    { position: 1, type: 'child', status: 'open' },
    { position: 0, type: 'spawn', status: 'done' },
  ])
})

test('refuses an invalid input before anything is stored if it has the code of the procedure', async () => {
  await using server = await startServer()
  const local = createServer({ client: server.engine, procedures: [refund], auth: byToken })
  const start = (input: unknown) =>
    send(local.fetch, 'olga', 'POST', '/v1/runs', { procedure: 'refund', input, id: 'refund:1' })
  expect(await start({ amount: 'many' })).toMatchObject({
    status: 422,
    body: { code: 'input-invalid', details: { issues: [{ path: 'amount' }] } },
  })
  expect(await server.call('olga', 'GET', '/v1/runs/refund:1')).toMatchObject({ status: 404 })
  expect(await start({ amount: 45 })).toMatchObject({ status: 201, body: { version: 1 } })
})

test('refuses an input that no live worker takes, without code of its own', async () => {
  await using server = await startServer()
  const start = (input: unknown) =>
    server.call('olga', 'POST', '/v1/runs', { procedure: 'refund', input, id: 'refund:1' })
  expect(await start({ amount: 'many' })).toMatchObject({
    status: 422,
    body: { code: 'input-invalid', details: { issues: [{ path: 'amount' }] } },
  })
  expect(await server.call('olga', 'GET', '/v1/runs/refund:1')).toMatchObject({ status: 404 })
  expect(await start({ amount: 45 })).toMatchObject({ status: 201 })
})

test('refuses a missing input before anything is stored if each live worker says that it is needed', async () => {
  const loose = procedure({ name: 'loose', input: z.object({ a: z.string() }).optional() }, async () => {})
  const coded = procedure({ name: 'coded', input: z.string().refine((text) => text !== '') }, async () => {})
  await using server = await startServer({ procedures: [loose, coded] as never })
  const start = (body: object) => server.call('olga', 'POST', '/v1/runs', body)
  const refused = await start({ procedure: 'refund', id: 'refund:1' })
  expect(refused).toMatchObject({ status: 422, body: { code: 'input-invalid' } })
  expect(await server.call('olga', 'GET', '/v1/runs/refund:1')).toMatchObject({ status: 404 })
  for (const procedure of ['long', 'loose', 'coded'])
    expect(await start({ procedure })).toMatchObject({ status: 201 })
})

test('returns an existing run without its input, although each live worker says that it is needed', async () => {
  await using server = await startServer()
  const start = (body: object) =>
    server.call('olga', 'POST', '/v1/runs', { procedure: 'refund', id: 'refund:1', ...body })
  expect(await start({ input: { amount: 45 } })).toMatchObject({ status: 201 })
  expect(await start({ existing: 'any' })).toMatchObject({ status: 200, body: { id: 'refund:1' } })
  expect(await start({})).toMatchObject({ status: 409, body: { code: 'id-taken' } })
  expect(await start({ id: 'refund:2', existing: 'any' })).toMatchObject({ status: 422 })
})
