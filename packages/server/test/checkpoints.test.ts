import { procedure } from '@pawl/core'
import { expect, test, vi } from 'vitest'
import { startServer } from './support/server.ts'

const saving = procedure({ name: 'saving' }, async (ctx) => {
  await ctx.checkpoint('begun', { since: new Date(0) })
  await ctx.sleep('1d')
})

async function start() {
  const server = await startServer({ procedures: [saving] })
  for (const id of ['s:1', 's:2']) await server.call('olga', 'POST', '/v1/runs', { procedure: 'saving', id })
  await vi.waitFor(async () => {
    expect((await server.call('wim', 'GET', '/v1/checkpoints')).body.items).toHaveLength(2)
  }, 60_000)
  return server
}

test('lists the checkpoints of a run without their values, and gets one with it', async () => {
  await using server = await start()
  const { body } = await server.call('wim', 'GET', '/v1/runs/s:1/checkpoints')
  expect(body.items).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      run: 's:1',
      position: 0,
      name: 'begun',
      createdAt: expect.any(String),
    },
  ])
  const { id } = body.items[0]
  const state = { since: { $pawl: 'date', value: '1970-01-01T00:00:00.000Z' } }
  for (const path of [`runs/s:1/checkpoints/${id}`, `checkpoints/${id}`, 'checkpoints/s:1'])
    expect(await server.call('wim', 'GET', `/v1/${path}`)).toMatchObject({ status: 200, body: { id, state } })
  for (const path of [`runs/s:2/checkpoints/${id}`, 'checkpoints/none', 'runs/s:1/checkpoints/none'])
    expect(await server.call('wim', 'GET', `/v1/${path}`)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    })
})

test('saves, deletes and cleans up', async () => {
  await using server = await start()
  const saved = await server.call('olga', 'POST', '/v1/runs/s:1/checkpoints', { name: 'mine', state: [1] })
  expect(saved).toMatchObject({ status: 201, body: { run: 's:1', position: 1, name: 'mine', state: [1] } })
  const remove = (what: string) => server.call('olga', 'DELETE', `/v1/checkpoints/${what}`)
  expect(await remove(saved.body.id)).toMatchObject({ status: 200, body: { deleted: 1 } })
  expect(await remove(saved.body.id)).toMatchObject({ status: 404 })
  expect(await remove('s:1')).toMatchObject({ status: 200, body: { deleted: 1 } })
  const clean = (body: object) => server.call('root', 'POST', '/v1/checkpoints/cleanup', body)
  expect(await clean({})).toMatchObject({ status: 400, body: { code: 'option-invalid' } })
  expect(await clean({ onlyFinished: true })).toMatchObject({ status: 200, body: { deleted: 0 } })
  expect(await clean({ keep: 0, olderThan: '1ms' })).toMatchObject({ status: 200, body: { deleted: 1 } })
  expect((await server.call('wim', 'GET', '/v1/checkpoints')).body).toEqual({ items: [] })
})

test('what a rule hides is in no list and cannot be deleted', async () => {
  await using server = await startServer({
    procedures: [saving],
    may: (_identity, verb, thing) => verb !== 'see' || thing.id !== 's:1',
  })
  for (const id of ['s:1', 's:2']) await server.engine.run(saving, undefined, { id })
  await vi.waitFor(async () => {
    expect((await server.engine.checkpoints.listAll()).items).toHaveLength(2)
  }, 60_000)
  const { body } = await server.call('root', 'GET', '/v1/checkpoints')
  expect(body.items.map(({ run }: { readonly run: string }) => run)).toEqual(['s:2'])
  for (const method of ['GET', 'DELETE'] as const)
    expect(await server.call('root', method, '/v1/checkpoints/s:1')).toMatchObject({ status: 404 })
  expect(await server.engine.checkpoints.list('s:1')).toHaveLength(1)
})
