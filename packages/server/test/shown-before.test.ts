import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type EngineOptions, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { byToken, dispatchOf, requestOf, silent } from './support/server.ts'

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const
const other = '0'.repeat(32)

async function serve(options: Pick<EngineOptions, 'store' | 'procedures'>) {
  const engine = await createEngine({ ...options, logger: silent })
  const { dispatch } = dispatchOf({ client: engine, auth: byToken, links })
  return { engine, dispatch, [Symbol.asyncDispose]: () => engine.stop() }
}

/** A run that asks for a small amount, and once it is retried, or started anew, for a large one. */
async function scene() {
  const world = { amount: 1, isDown: true, look: Promise.resolve() }
  const send = procedure({ name: 'send' }, async (ctx) => {
    const asked = ctx.human.approve('Send {n} EUR?', { params: { n: world.amount } })
    await ctx.step('flaky', () => world.look.then(() => world.isDown && Promise.reject(new Error('down'))), {
      retry: false,
    })
    return (await asked).approved
  })
  const engine = await createEngine({ store: memory(), procedures: [send], logger: silent })
  const { dispatch } = dispatchOf({ client: engine, auth: byToken, links })
  const post = async (path: string, body: object) => {
    const reply = await dispatch(requestOf('root', 'POST', path, body))
    return { status: reply.status, body: (await reply.json()) as { readonly code?: string } }
  }
  const form = async (token: string, fields: Record<string, string>) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = new URLSearchParams({ token, choice: 'approve', ...fields }).toString()
    const reply = await dispatch(requestOf(null, 'POST', '/a', sent, type))
    return { status: reply.status, text: await reply.text() }
  }
  const linkTo = async (ask: string) => {
    const made = await dispatch(requestOf('root', 'POST', `/v1/asks/${ask}/links`, { as: 'user:bob' }))
    const { url } = (await made.json()) as { readonly url: string }
    return url.slice(url.lastIndexOf('/') + 1)
  }
  const page = async (token: string) => (await dispatch(requestOf(null, 'GET', `/a/${token}`))).text()
  return { ...{ world, engine, send, post, form, linkTo, page }, [Symbol.asyncDispose]: () => engine.stop() }
}

test('what was shown before a retry answers nothing, by POST, by resume and by a link', async () => {
  await using s = await scene()
  let look = (): void => {}
  s.world.look = new Promise((resolve) => {
    look = resolve
  })
  const run = await s.engine.run(s.send, undefined, { id: 's' })
  const shown = await s.engine.inbox.next({ run: run.id })
  const token = await s.linkTo(shown.id)
  const digest = /name="digest" value="(\w+)"/.exec(await s.page(token))?.[1] ?? ''
  expect(digest).toBe(shown.digest)
  look()
  await run.result().catch(() => {})
  Object.assign(s.world, { amount: 1_000_000, isDown: false })
  await s.engine.retry(run.id)
  const now = await s.engine.inbox.next({ run: run.id })
  expect(now.message).toBe('Send 1000000 EUR?')
  const resolution = { decision: 'approve' }
  for (const refused of [
    await s.post(`/v1/asks/${shown.id}/answer`, { approved: true }),
    await s.post(`/v1/asks/${shown.id}/answer?digest=${digest}`, { approved: true }),
    await s.post('/v1/resume', { checkpoint: shown.id, resolution }),
  ])
    expect(refused).toMatchObject({ status: 409, body: { code: 'ask-closed' } })
  expect(await s.page(token)).toContain('This ask is closed')
  expect(await s.form(token, { digest })).toMatchObject({
    status: 409,
    text: expect.stringContaining('This ask is closed'),
  })
  expect((await s.engine.inbox.get(now.id))?.status).toBe('open')
  await s.engine.inbox.answer(now.id, { approved: true }, { as: 'user:ana', digest: now.digest })
  expect(await run.result()).toBe(true)
})

test('the digest of another question is refused wherever an answer is sent, and the ask stays open', async () => {
  await using s = await scene()
  s.world.isDown = false
  const run = await s.engine.run(s.send, undefined, { id: 's' })
  const ask = await s.engine.inbox.next({ run: run.id })
  const resolution = { decision: 'approve' }
  for (const path of [`/v1/asks/${ask.id}/answer`, `/v1/asks/${ask.id}/check`])
    expect(await s.post(`${path}?digest=${other}`, { approved: true })).toMatchObject({
      status: 409,
      body: { code: 'ask-changed' },
    })
  expect(await s.post(`/v1/resume?digest=${other}`, { checkpoint: ask.id, resolution })).toMatchObject({
    status: 409,
    body: { code: 'ask-changed' },
  })
  expect(await s.post(`/v1/asks/${ask.id}/answer?digest=x`, { approved: true })).toMatchObject({
    status: 400,
  })
  const answer = { approved: true }
  expect(await s.post('/v1/asks/answers', { asks: [{ id: ask.id, digest: other }], answer })).toMatchObject({
    body: { outcomes: [{ ask: ask.id, status: 'refused', problem: { code: 'ask-changed' } }] },
  })
  const token = await s.linkTo(ask.id)
  expect(await s.form(token, { digest: other })).toMatchObject({
    status: 409,
    text: expect.stringContaining('This ask has changed'),
  })
  expect((await s.engine.inbox.get(ask.id))?.status).toBe('open')
  expect(await s.post(`/v1/asks/${ask.id}/answer?digest=${ask.digest}`, { approved: true })).toMatchObject({
    status: 200,
  })
  expect(await run.result()).toBe(true)
})

test('an address names another question once its run was deleted and started anew', async () => {
  await using s = await scene()
  s.world.isDown = false
  const run = await s.engine.run(s.send, undefined, { id: 's' })
  const shown = await s.engine.inbox.next({ run: run.id })
  await s.engine.inbox.answer(shown.id, { approved: false }, { as: 'user:bob' })
  await run.result()
  await s.engine.delete(run.id)
  s.world.amount = 1_000_000
  const again = await s.engine.run(s.send, undefined, { id: 's' })
  await s.engine.inbox.next({ run: again.id })
  const late = { as: 'user:ana', digest: shown.digest } as const
  await expect(s.engine.inbox.answer('s/0', { approved: true }, late)).rejects.toMatchObject({
    code: 'ask-changed',
  })
  await expect(
    s.engine.inbox.answer({ run: 'none', key: 'send' }, { approved: true }, late),
  ).rejects.toMatchObject({ code: 'ask-changed' })
  expect((await s.engine.inbox.get('s/0'))?.status).toBe('open')
})

test('an answer by key carries the digest, too: that of another question is refused, asked or not', async () => {
  const keyed = procedure({ name: 'keyed', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    return (await ctx.human.approve('Send?', { key: 'send' })).approved
  })
  await using s = await serve({ store: memory(), procedures: [keyed] })
  const { engine, dispatch } = s
  const post = async (digest: string) => {
    const path = `/v1/runs/k/asks/send/answer?digest=${digest}`
    const reply = await dispatch(requestOf('root', 'POST', path, { approved: true }))
    return [reply.status, ((await reply.json()) as { readonly code?: string }).code]
  }
  const run = await engine.run(keyed, undefined, { id: 'k' })
  expect(await post(other)).toEqual([409, 'ask-changed'])
  await run.signal('go')
  const { digest } = await engine.inbox.next({ run: 'k' })
  expect(await post(other)).toEqual([409, 'ask-changed'])
  expect(await post(digest)).toEqual([202, undefined])
  expect(await run.result()).toBe(true)
})

test('a question that is altered in the store is another one, at each door', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-altered-'))
  const file = join(folder, 'pawl.db')
  const send = procedure({ name: 'send' }, async (ctx) => (await ctx.human.approve('Send 1 EUR?')).approved)
  await using s = await serve({ store: sqlite(file), procedures: [send] })
  const { engine, dispatch } = s
  const run = await engine.run(send, undefined, { id: 's' })
  const { id, digest } = await engine.inbox.next({ run: 's' })
  const made = await dispatch(requestOf('root', 'POST', `/v1/asks/${id}/links`, { as: 'user:bob' }))
  const { url } = (await made.json()) as { readonly url: string }
  const token = url.slice(url.lastIndexOf('/') + 1)
  const rewrite = (from: string, to: string) => {
    const db = new Database(file)
    const { payload } = db.prepare('select payload from asks').get() as { readonly payload: Buffer }
    const altered = Buffer.from(payload.toString('latin1').replace(from, to), 'latin1')
    expect(altered.equals(payload)).toBe(false)
    db.prepare('update asks set payload = ?').run(altered)
    db.close()
  }
  rewrite('Send 1 EUR?', 'Send 9 EUR?')
  const json = async (path: string, body: object) => {
    const reply = await dispatch(requestOf('root', 'POST', path, body))
    return reply.text()
  }
  const answer = { approved: true }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const fields = new URLSearchParams({ token, choice: 'approve', digest }).toString()
  const form = await (await dispatch(requestOf(null, 'POST', '/a', fields, type))).text()
  for (const refused of [
    await json(`/v1/asks/${id}/answer?digest=${digest}`, answer),
    await json(`/v1/asks/${id}/check?digest=${digest}`, answer),
    await json(`/v1/resume?digest=${digest}`, { checkpoint: id, resolution: { decision: 'approve' } }),
    await json('/v1/asks/answers', { asks: [{ id, digest }], answer }),
    form,
  ])
    expect(refused).toMatch(/ask-changed|This ask has changed/)
  rewrite('Send 9 EUR?', 'Send 1 EUR?')
  await engine.inbox.answer(id, answer, { as: 'user:bob', digest })
  expect(await run.result()).toBe(true)
  await rm(folder, { recursive: true })
})

test('the digest says what was shown, and not what time changes', async () => {
  await using s = await scene()
  const [a, b] = [await s.engine.run(s.send, undefined), await s.engine.run(s.send, undefined)]
  const [one, two] = [await s.engine.inbox.next({ run: a.id }), await s.engine.inbox.next({ run: b.id })]
  expect(one.digest).toMatch(/^[0-9a-f]{32}$/)
  expect(two.digest).not.toBe(one.digest)
  expect((await s.engine.inbox.get(one.id))?.digest).toBe(one.digest)
})
