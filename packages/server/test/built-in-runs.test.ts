import { createEngine, procedure } from '@pawl/core'
import { createServer, type ServerOptions, webhooks } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { byToken, send, silent } from './support/server.ts'

const note = procedure({ name: 'note' }, (ctx) => ctx.step('note', () => 'noted'))
const url = 'https://receiver.example.org/hooks/a-secret-path'

/** A server with one registered webhook, whose deliveries fail for lack of a network. */
async function startScene(options: Partial<ServerOptions> = {}) {
  const hooks = webhooks({ keys: ['k'.repeat(32)] })
  const engine = await createEngine({
    store: memory(),
    procedures: [note],
    plugins: [hooks],
    logger: silent,
  })
  const server = createServer({ client: engine, auth: byToken, hooks, logger: silent, ...options })
  const call = (as: string, method: string, path: string, body?: object) =>
    send(server.fetch, as, method, path, body)
  return {
    ...{ engine, call },
    async register(): Promise<string> {
      const made = await call('root', 'POST', '/v1/hooks', { url })
      return made.body.hook.id
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
    },
  }
}

const delivery = { hook: 'any', url, body: '{"type":"ask.closed","forged":true}' }
const hook = { id: 'x', url, events: [], include: 'full', from: 0, by: 'user:root' }

type Refused = readonly [as: string, method: string, path: (hook: string) => string, body: object | undefined]

test.each<Refused>([
  ['olga', 'POST', () => '/v1/runs', { procedure: 'pawl.deliver', input: delivery }],
  [
    'olga',
    'POST',
    () => '/v1/runs',
    { procedure: 'pawl.deliver', input: { ...delivery, url: 'http://127.0.0.1:1/' } },
  ],
  ['olga', 'POST', () => '/v1/runs', { procedure: 'pawl.hook', id: 'pawl.hook:x', input: hook }],
  ['olga', 'POST', (id) => `/v1/runs/pawl.hook:${id}/signals/off`, { payload: { reason: 'no reason' } }],
  ['olga', 'POST', (id) => `/v1/runs/pawl.hook:${id}/cancel`, {}],
  ['olga', 'POST', () => '/v1/runs', { procedure: 'note', id: 'hook:1:7' }],
  ['wim', 'GET', () => '/v1/runs?procedure=pawl.hook', undefined],
  ['wim', 'GET', (id) => `/v1/runs/pawl.hook:${id}/log`, undefined],
  ['olga', 'POST', (id) => `/v1/runs/pawl.hook:${id}/retry`, {}],
  ['olga', 'POST', (id) => `/v1/runs/pawl.hook:${id}/fork`, { position: 0 }],
])('runs of Pawl itself are refused to %s: %s %s', async (as, method, path, body) => {
  await using s = await startScene()
  const id = await s.register()
  const { status, body: reply } = await s.call(as, method, path(id), body)
  expect([403, 404]).toContain(status)
  expect(JSON.stringify(reply)).not.toContain('a-secret-path')
  expect(await s.engine.get(`pawl.hook:${id}`).status()).toMatchObject({ procedure: 'pawl.hook' })
  expect((await s.engine.list({ procedure: 'pawl.deliver' })).items).toEqual([])
})

test('role admin sees and cancels runs of Pawl itself', async () => {
  await using s = await startScene()
  const id = await s.register()
  expect((await s.call('root', 'GET', '/v1/runs?procedure=pawl.hook')).body.items).toHaveLength(1)
  expect((await s.call('root', 'POST', `/v1/runs/pawl.hook:${id}/cancel`, {})).status).toBe(202)
})

test('the question about a webhook that is switched off does not show the path of its address', async () => {
  await using s = await startScene()
  const id = await s.register()
  await s.engine.get(`pawl.hook:${id}`).signal('off', { reason: 'it failed' })
  const ask = await s.engine.inbox.next({ run: `pawl.hook:${id}` })
  expect(ask.message).toBe('The webhook to https://receiver.example.org is switched off: it failed')
  expect(JSON.stringify(ask)).not.toContain('a-secret-path')
})

test('their checkpoints are for role admin alone', async () => {
  await using s = await startScene()
  const run = `pawl.hook:${await s.register()}`
  await s.engine.checkpoints.create(run, { secret: 1 })
  for (const who of ['wim', 'olga']) {
    expect(await s.call(who, 'GET', `/v1/checkpoints/${encodeURIComponent(run)}`)).toMatchObject({
      status: 404,
    })
    expect(await s.call(who, 'GET', '/v1/checkpoints')).toMatchObject({ status: 200, body: { items: [] } })
  }
  expect((await s.call('root', 'GET', '/v1/checkpoints')).body.items).toHaveLength(1)
})

test('what passes over single runs is refused where `may` hides some', async () => {
  await using s = await startScene({ may: () => true })
  const cleanup = await s.call('root', 'POST', '/v1/checkpoints/cleanup', { keep: 0 })
  expect(cleanup).toMatchObject({ status: 403, body: { code: 'not-allowed' } })
  const full = await s.call('root', 'POST', '/v1/hooks', { url, include: 'full' })
  expect(full).toMatchObject({ status: 403, body: { code: 'not-allowed' } })
  expect((await s.call('root', 'POST', '/v1/hooks', { url })).status).toBe(201)
})

test.each(['pawl.note', 'hook:1', 'notify:r/0:mail'])('no other run can have the id %s', async (id) => {
  await using s = await startScene()
  const refused = {
    code: 'option-invalid',
    message: expect.stringContaining('belong to runs of Pawl itself'),
  }
  await expect(s.engine.run(note, undefined, { id })).rejects.toMatchObject(refused)
  await s.engine.run(note, undefined, { id: 'note:1' })
  await s.engine.get('note:1').result()
  await expect(s.engine.fork('note:1', { position: 0 }, { id })).rejects.toMatchObject(refused)
  const exported = await s.engine.export('note:1')
  await expect(s.engine.import(exported, { id })).rejects.toMatchObject(refused)
  expect(await s.call('root', 'GET', `/v1/runs/${encodeURIComponent(id)}`)).toMatchObject({ status: 404 })
})

test('the children of a run have been started by the person who started it, and who cannot approve in them', async () => {
  const pay = procedure({ name: 'pay' }, async (ctx) => (await ctx.human.approve('Pay?')).by)
  const called = procedure({ name: 'called' }, (ctx) => ctx.call(pay))
  const parent = procedure({ name: 'parent' }, async (ctx) => (await ctx.spawn(called)).result())
  const engine = await createEngine({ store: memory(), procedures: [pay, called, parent], logger: silent })
  const server = createServer({ client: engine, auth: byToken, selfApproval: false, logger: silent })
  await engine.run(parent, undefined, { id: 'p', by: 'user:olga' })
  let asks = (await engine.inbox.list({ procedure: 'pay' })).items
  while (asks.length === 0) asks = (await engine.inbox.list({ procedure: 'pay' })).items
  const [ask] = asks
  expect(ask?.startedBy).toBe('user:olga')
  const answer = `/v1/asks/${encodeURIComponent(ask?.id ?? '')}/answer`
  expect((await send(server.fetch, 'olga', 'POST', answer, { approved: true })).status).toBe(403)
  expect((await send(server.fetch, 'bot', 'POST', answer, { approved: true })).status).toBe(200)
  expect(await engine.get('p').result()).toBe('user:bot')
  await server.stop()
  await engine.stop()
})
