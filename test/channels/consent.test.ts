import { createServer, type Identity, type Verb } from '@pawl/server'
import { expect, test, vi } from 'vitest'
import { asking, askOnce, desk, silent, startChannels } from './support.ts'

const ana = { as: 'user:ana', names: ['group:editors'] } as const

test.each(['link', 'none'] as const)(
  'a channel with identity %s settles nothing, whoever its sender claims to be',
  async (identity) => {
    const mail = desk('mail', identity)
    await using engine = await startChannels([mail])
    const { ask } = await askOnce(engine)
    await expect.poll(() => mail.delivered).toEqual([ask.id])
    for (const reply of [{ approved: true }, { decision: 'approve' }] as const)
      await expect(mail.submit(ask.id, reply, ana)).rejects.toMatchObject({ code: 'answer-forbidden' })
    expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  },
)

test('free text is a comment in the log of its delivery, even of a person who may answer', async () => {
  const chat = desk('chat')
  await using engine = await startChannels([chat])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => chat.delivered).toEqual([ask.id])
  for (const comment of ['approve', 'Yes, approved!', '{"approved":true}'])
    await chat.submit(ask.id, { comment }, ana)
  await expect(chat.submit(ask.id, 'approve' as never, ana)).rejects.toThrow()
  expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  const comments = async () =>
    (await engine.log(`notify:${ask.id}:chat`)).execution_log.flatMap(({ result }) =>
      JSON.stringify(result).includes('comment') ? [result] : [],
    )
  await expect.poll(comments).toHaveLength(3)
  expect((await comments())[0]).toMatchObject({ payload: { by: 'user:ana', comment: 'approve' } })
  await chat.submit(ask.id, { approved: false, comment: 'not yet' }, ana)
  expect(await run.result()).toBe('rejected by user:ana')
})

test.each([
  ['the person', ['user:ana'], {}, true],
  ['a group of the person', ['group:editors'], { names: ['group:editors'] }, true],
  ['everyone', undefined, {}, true],
  ['a group that the channel does not know them in', ['group:editors'], {}, false],
  ['another person', ['user:bob'], { names: ['group:editors'] }, false],
] as const)(
  'an ask to %s: only those it is addressed to answer through a channel',
  async (_, to, names, may) => {
    const chat = desk('chat')
    const one = asking({ to }, 'one')
    await using engine = await startChannels([chat], { procedures: [one] })
    const { ask } = await askOnce(engine, one)
    const submitted = chat.submit(ask.id, { approved: true }, { as: 'user:ana', ...names })
    if (may) await submitted
    else await expect(submitted).rejects.toMatchObject({ code: 'answer-forbidden' })
    expect((await engine.inbox.get(ask.id))?.status).toBe(may ? 'answered' : 'open')
  },
)

test('with `selfApproval: false` the person who started a run cannot answer its asks through a channel', async () => {
  const chat = desk('chat')
  await using engine = await startChannels([chat], { selfApproval: false })
  const run = await engine.run(asking(), undefined, { by: 'user:ana' })
  const ask = await engine.inbox.next({ run: run.id })
  await expect(chat.submit(ask.id, { approved: true }, ana)).rejects.toMatchObject({
    code: 'answer-forbidden',
  })
  await chat.submit(ask.id, { approved: true }, { ...ana, as: 'user:bob' })
  expect(await run.result()).toBe('approved by user:bob')
})

test.each([
  ['`selfApproval: false`', { selfApproval: false }, 'user:bob'],
  [
    '`may`',
    { may: (who: Identity, verb: Verb) => verb !== 'answer' || who.actor === 'user:bob' },
    'user:bob',
  ],
  [
    '`may`, which hides it',
    { may: (who: Identity, verb: Verb) => verb !== 'see' || who.actor === 'user:bob' },
    'user:bob',
  ],
] as const)(
  'what a server of the engine forbids by %s is forbidden through a channel as well',
  async (_, rules, other) => {
    const chat = desk('chat')
    await using engine = await startChannels([chat])
    const auth = (request: Request) => ({
      actor: `user:${request.headers.get('x-user')}` as const,
      names: ['group:editors' as const],
      role: 'answer' as const,
    })
    const server = createServer({ client: engine, auth, ...rules })
    const run = await engine.run(asking(), undefined, { by: 'user:ana' })
    const ask = await engine.inbox.next({ run: run.id })
    const headers = { 'content-type': 'application/json', host: '127.0.0.1', 'x-user': 'ana' }
    const url = `http://127.0.0.1/v1/asks/${ask.id}/answer`
    const reply = await server.fetch(new Request(url, { method: 'POST', headers, body: '{"approved":true}' }))
    expect([403, 404]).toContain(reply.status)
    const refused = { code: 'answer-forbidden', message: expect.stringContaining('user:ana') }
    await expect(chat.submit(ask.id, { approved: true }, ana)).rejects.toMatchObject(refused)
    await chat.submit(ask.id, { approved: true }, { ...ana, as: other })
    expect(await run.result()).toBe(`approved by ${other}`)
    await server.stop()
  },
)

test('`selfApproval: false` of an engine holds for its servers, whatever their own option', async () => {
  await using engine = await startChannels([desk('chat')], { selfApproval: false })
  const auth = () => ({ actor: 'user:ana', names: ['group:editors'], role: 'admin' }) as const
  const server = createServer({ client: engine, auth, selfApproval: true })
  const run = await engine.run(asking(), undefined, { by: 'user:ana' })
  const ask = await engine.inbox.next({ run: run.id })
  const headers = { 'content-type': 'application/json', host: '127.0.0.1' }
  const url = `http://127.0.0.1/v1/asks/${ask.id}/answer`
  const reply = await server.fetch(new Request(url, { method: 'POST', headers, body: '{"approved":true}' }))
  expect(reply.status).toBe(403)
  await server.stop()
})

test('a server that has stopped forbids nothing to a channel', async () => {
  const chat = desk('chat')
  await using engine = await startChannels([chat])
  await createServer({ client: engine, selfApproval: false }).stop()
  const run = await engine.run(asking(), undefined, { by: 'user:ana' })
  const ask = await engine.inbox.next({ run: run.id })
  await chat.submit(ask.id, { approved: true }, ana)
  expect(await run.result()).toBe('approved by user:ana')
})

test('an agent cannot answer through a channel', async () => {
  const chat = desk('chat')
  await using engine = await startChannels([chat])
  const { ask } = await askOnce(engine)
  const submitted = chat.submit(ask.id, { approved: true }, { ...ana, as: 'agent:writer' })
  await expect(submitted).rejects.toMatchObject({ code: 'answer-forbidden' })
})

const critical = asking({ risk: 'critical' }, 'critical')

test('a critical ask goes to no channel if none that takes it verifies identities', async () => {
  const [mail, pager] = [desk('mail', 'link'), desk('pager', 'none')]
  const chat = desk('chat', 'verified', { wants: () => false })
  const warn = vi.fn()
  const logger = { ...silent, warn }
  await using engine = await startChannels([mail, pager, chat], { procedures: [asking(), critical], logger })
  await askOnce(engine, critical)
  // The router takes the asks in order: with this delivery it has seen the critical one.
  const { ask } = await askOnce(engine)
  await expect.poll(() => [...mail.delivered, ...pager.delivered]).toEqual([ask.id, ask.id])
  expect(warn.mock.calls.flat().join()).toMatch(/is critical and goes to the inbox only/)
})

test('a critical ask goes to all its channels if one of them verifies identities', async () => {
  const [mail, chat] = [desk('mail', 'link'), desk('chat')]
  await using engine = await startChannels([mail, chat], { procedures: [critical] })
  const { ask } = await askOnce(engine, critical)
  await expect.poll(() => [...mail.delivered, ...chat.delivered]).toEqual([ask.id, ask.id])
})
