import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startServer, type TestServer } from './support/server.ts'

const publicUrl = 'http://127.0.0.1'
const links = { publicUrl, keys: ['k'.repeat(32)] } as const
const pay = procedure({ name: 'pay' }, async (ctx) => (await ctx.human.approve('Pay?', { key: 'pay' })).by)
const patient = procedure({ name: 'patient', signals: { go: z.void() } }, async (ctx) => {
  await ctx.receive('go')
  return (await ctx.human.approve('Pay?', { key: 'pay' })).by
})

async function linkOf(server: TestServer, maker: string, ask: string, body: object = {}): Promise<string> {
  const made = await server.call(maker, 'POST', `/v1/asks/${ask}/links`, { as: 'user:bob', ...body })
  expect(made.status).toBe(200)
  return made.body.url.slice(`${publicUrl}/a/`.length)
}

async function press({ server }: TestServer, token: string): Promise<Response> {
  const body = new URLSearchParams({ token, choice: 'approve' })
  return server.fetch(new Request(`${publicUrl}/a`, { method: 'POST', headers: { host: '127.0.0.1' }, body }))
}

test('an answer through a link names who made the link, in the ask, over HTTP and in the log', async () => {
  await using server = await startServer({ links, procedures: [pay] })
  const run = await server.engine.run(pay, undefined, { id: 'p' })
  const { id } = await server.engine.inbox.next({ run: 'p' })
  expect((await press(server, await linkOf(server, 'root', id))).status).toBe(200)
  expect(await run.result()).toBe('user:bob')
  const answer = { by: 'user:bob', via: 'link', madeBy: 'user:root' }
  expect((await server.engine.inbox.get(id))?.answer).toMatchObject(answer)
  expect((await server.call('root', 'GET', `/v1/asks/${id}`)).body.answer).toMatchObject(answer)
  const [entry] = (await server.engine.log('p')).execution_log
  expect(entry?.result).toMatchObject({ by: 'user:bob', via: 'link', made_by: 'user:root' })
})

test('an answer for another person names who gave it, also one before the question', async () => {
  await using server = await startServer({
    procedures: [pay, patient],
    auth: (request) => {
      const isBot = request.headers.get('authorization') === 'Bearer bot'
      return isBot ? { actor: 'user:bot', names: [], role: 'admin', actAs: true } : null
    },
  })
  await server.engine.run(pay, undefined, { id: 'p' })
  const { id } = await server.engine.inbox.next({ run: 'p' })
  const answered = await server.call('bot', 'POST', `/v1/asks/${id}/answer?as=user:bob`, { approved: true })
  expect(answered.body.ask.answer).toMatchObject({ by: 'user:bob', actedBy: 'user:bot' })
  const early = await server.engine.run(patient, undefined, { id: 'q' })
  await server.call('bot', 'POST', '/v1/runs/q/asks/pay/answer?as=user:bob', { approved: true })
  await early.signal('go')
  await early.result()
  const entry = (await server.engine.log('q')).execution_log[1]
  expect(entry?.result).toMatchObject({ by: 'user:bob', acted_by: 'user:bot' })
})

test('an answer of a person themselves names no one else', async () => {
  await using server = await startServer({ procedures: [pay] })
  await server.engine.run(pay, undefined, { id: 'p' })
  const { id } = await server.engine.inbox.next({ run: 'p' })
  const { body } = await server.call('root', 'POST', `/v1/asks/${id}/answer?as=user:root`, { approved: true })
  expect(body.ask.answer).toMatchObject({ by: 'user:root' })
  expect(body.ask.answer).not.toHaveProperty('actedBy')
})

test('with selfApproval false, a link of who started the run works only after a login', async () => {
  await using server = await startServer({ links, procedures: [pay], selfApproval: false })
  await using lenient = await startServer({ links, client: () => server.engine })
  await server.engine.run(pay, undefined, { id: 'p', by: 'user:root' })
  const { id } = await server.engine.inbox.next({ run: 'p' })
  const refused = await server.call('root', 'POST', `/v1/asks/${id}/links`, { as: 'user:bob' })
  expect(refused).toMatchObject({ status: 403, body: { code: 'not-allowed' } })
  expect(refused.body.detail).toContain('user:root started the run')
  await linkOf(server, 'root', id, { login: true })
  // One that was made while it was allowed.
  expect((await press(server, await linkOf(lenient, 'root', id))).status).toBe(403)
  expect((await server.engine.inbox.get(id))?.status).toBe('open')
})
