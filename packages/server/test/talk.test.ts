import { procedure } from '@pawl/core'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { startServer } from './support/server.ts'

const document = procedure(
  {
    name: 'document',
    signals: { close: z.void() },
    state: { title: z.string() },
    updates: { rename: { input: z.string(), output: z.string() } },
  },
  async (ctx) => {
    let title = 'Untitled'
    ctx.progress({ done: 1, total: 2 })
    ctx.on('rename', (name) => {
      if (name === '') throw new Error('a title is needed')
      const old = title
      title = name
      ctx.expose('title', title)
      return old
    })
    await ctx.receive('close')
  },
)

test('sends an update once for its key, and reads what the run exposes', async () => {
  await using server = await startServer({ procedures: [document] })
  await server.call('olga', 'POST', '/v1/runs', { procedure: 'document', id: 'd' })
  expect(await server.call('wim', 'GET', '/v1/runs/d/state/title')).toMatchObject({
    status: 202,
    body: { id: 'd' },
  })
  const waiting = server.call('wim', 'GET', '/v1/runs/d/state/title?wait=60s')
  for (let time = 0; time < 2; time++) {
    const key = { 'idempotency-key': 'one' }
    expect(
      await server.call('olga', 'POST', '/v1/runs/d/updates/rename', { input: 'Blue' }, key),
    ).toMatchObject({ status: 200, body: { output: 'Untitled' } })
  }
  expect(await waiting).toMatchObject({ status: 200, body: { name: 'title', value: 'Blue' } })
  await vi.waitFor(async () => {
    expect((await server.call('wim', 'GET', '/v1/runs/d/state')).body).toMatchObject({
      items: [{ name: 'title', value: 'Blue' }],
    })
    expect((await server.call('wim', 'GET', '/v1/runs/d')).body.progress).toEqual({ done: 1, total: 2 })
  })
})

test('says why an update has no reply', async () => {
  await using server = await startServer({ procedures: [document] })
  await server.call('olga', 'POST', '/v1/runs', { procedure: 'document', id: 'd' })
  const update = (name: string, body: object, query = '') =>
    server.call('olga', 'POST', `/v1/runs/d/updates/${name}${query}`, body)
  expect(await update('rename', { input: '' })).toMatchObject({
    status: 422,
    body: { code: 'update-refused', details: { cause: { message: 'a title is needed' } } },
  })
  expect(await update('rename', { input: 7 })).toMatchObject({
    status: 422,
    body: { code: 'payload-invalid' },
  })
  expect(await update('other', {})).toMatchObject({ status: 422, body: { code: 'update-refused' } })
  expect(await update('rename', { name: 'x' })).toMatchObject({
    status: 400,
    body: { code: 'request-invalid' },
  })
  await server.engine.get('d').cancel()
  await server.engine
    .get('d')
    .result()
    .catch(() => {})
  expect(await update('rename', { input: 'x' })).toMatchObject({ status: 409, body: { code: 'run-ended' } })
})

test('returns 202 with the id of an update that is not handled in time', async () => {
  const deaf = procedure(
    {
      name: 'deaf',
      signals: { listen: z.void() },
      updates: { ask: { input: z.void(), output: z.string() } },
    },
    async (ctx) => {
      await ctx.receive('listen')
      ctx.on('ask', () => 'heard')
      await ctx.sleep('1h')
    },
  )
  await using server = await startServer({ procedures: [deaf] })
  await server.call('olga', 'POST', '/v1/runs', { procedure: 'deaf', id: 'd' })
  const late = await server.call('olga', 'POST', '/v1/runs/d/updates/ask?wait=1ms', {})
  expect(late).toMatchObject({ status: 202, body: { id: expect.any(String) } })
  await server.engine.get('d').signal('listen')
  const key = { 'idempotency-key': late.body.id }
  expect(await server.call('olga', 'POST', '/v1/runs/d/updates/ask?wait=60s', {}, key)).toMatchObject({
    status: 200,
    body: { output: 'heard' },
  })
})
