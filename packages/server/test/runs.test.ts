import { expect, test } from 'vitest'
import { startServer } from './support/server.ts'

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

test('reports the invalid input of a run that was started by name as its result', async () => {
  await using server = await startServer()
  const body = { procedure: 'refund', input: { amount: 'x' }, id: 'refund:1' }
  await server.call('olga', 'POST', '/v1/runs', body)
  expect(await server.call('olga', 'GET', '/v1/runs/refund:1/result?wait=60s')).toMatchObject({
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
