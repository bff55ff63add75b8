import { type Channel, channels } from '@pawl/channels'
import { createClient, createEngine } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, test, vi } from 'vitest'
import { asking, askOnce, desk, silent, startChannels } from './support.ts'

const ana = { as: 'user:ana', names: ['group:editors'] } as const

test('an ask is delivered to each channel, the first answer wins, and the others are updated', async () => {
  const [chat, board] = [desk('chat'), desk('board')]
  await using engine = await startChannels([chat, board])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => [...chat.delivered, ...board.delivered]).toEqual([ask.id, ask.id])
  await chat.submit(ask.id, { decision: 'approve' }, ana)
  expect(await run.result()).toBe('approved by user:ana')
  await expect
    .poll(() => [...chat.updated, ...board.updated])
    .toEqual([`chat:${ask.id} answered user:ana`, `board:${ask.id} answered user:ana`])
  await expect(board.submit(ask.id, { approved: false }, { ...ana, as: 'user:bob' })).rejects.toMatchObject({
    code: 'ask-closed',
    details: { winner: { by: 'user:ana' } },
  })
  expect((await engine.inbox.get(ask.id))?.answer).toMatchObject({ by: 'user:ana', via: 'chat' })
})

test('inbox.get shows the deliveries of an ask, which are runs', async () => {
  const [chat, board] = [desk('chat'), desk('board')]
  await using engine = await startChannels([chat, board])
  const { ask } = await askOnce(engine)
  const deliveries = async () => (await engine.inbox.get(ask.id))?.deliveries
  const run = (channel: string) => `notify:${ask.id}:${channel}`
  await expect
    .poll(async () => (await deliveries())?.toSorted((a, b) => a.channel.localeCompare(b.channel)))
    .toEqual(['board', 'chat'].map((channel) => ({ channel, run: run(channel), status: 'waiting' })))
  await engine.inbox.answer(ask.id, { approved: false }, { as: 'user:ana' })
  await expect
    .poll(async () => (await deliveries())?.map(({ status }) => status))
    .toEqual(['completed', 'completed'])
  expect((await engine.inbox.list({ status: 'answered' })).items[0]?.deliveries).toBeUndefined()
})

test('a channel gets the asks that name it, or that it wants, of the kinds that it can show', async () => {
  const chat = desk('chat', 'verified', { can: { kinds: ['approve'], form: 'none', identity: 'verified' } })
  const picky = desk('picky', 'verified', { wants: ({ to }) => to.includes('group:sales') })
  const named = asking({ channels: ['picky'] }, 'named')
  const none = asking({ channels: [] }, 'none')
  const sales = asking({ to: 'group:sales' }, 'sales')
  await using engine = await startChannels([chat, picky], { procedures: [asking(), named, none, sales] })
  const asks = []
  for (const one of [asking(), named, none, sales]) asks.push((await askOnce(engine, one)).ask.id)
  const [plain, toPicky, , toSales] = asks
  await expect.poll(() => chat.delivered).toEqual([plain, toSales])
  await expect.poll(() => picky.delivered).toEqual([toPicky, toSales])
})

test('each recipient has a delivery with a link of their own, and links go to channels for links only', async () => {
  const links = { publicUrl: 'https://pawl.example.org/', keys: ['k'.repeat(32)] } as const
  const given: Record<string, unknown> = {}
  const of = (name: string): Partial<Channel> => ({
    recipients: () => [{ name: 'user:ana', address: 'ana@example.org' }, { name: 'group:editors' }],
    deliver: async (_ask, { recipient, link, page }) => {
      const shown = [recipient?.address, link?.replace(/\/a\/.*/, '/a/…'), page]
      given[`${name} ${recipient?.name}`] = shown
    },
  })
  const channels = [desk('mail', 'link', of('mail')), desk('chat', 'verified', of('chat'))]
  await using engine = await startChannels(channels, { links })
  const { ask } = await askOnce(engine)
  const page = `https://pawl.example.org/#/asks/${ask.id}`
  await expect.poll(() => Object.keys(given)).toHaveLength(4)
  expect(given).toEqual({
    'mail user:ana': ['ana@example.org', 'https://pawl.example.org/a/…', page],
    'mail group:editors': [undefined, undefined, page],
    'chat user:ana': ['ana@example.org', undefined, page],
    'chat group:editors': [undefined, undefined, page],
  })
})

test('an outage of a channel settles nothing, holds back no other channel, and ends with the ask', async () => {
  let attempts = 0
  const broken = desk('broken', 'verified', {
    deliver: () => {
      attempts += 1
      return Promise.reject(new Error('connection refused'))
    },
  })
  const chat = desk('chat')
  await using engine = await startChannels([broken, chat])
  const { run, ask } = await askOnce(engine)
  await expect.poll(() => chat.delivered).toEqual([ask.id])
  await expect.poll(() => attempts).toBeGreaterThan(0)
  expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'open', answer: undefined })
  await chat.submit(ask.id, { approved: true }, ana)
  expect(await run.result()).toBe('approved by user:ana')
  const tried = attempts
  await expect
    .poll(() => engine.get(`notify:${ask.id}:broken`).status())
    .toMatchObject({ status: 'completed' })
  // The attempt after the answer finds the ask closed, and delivers nothing.
  expect(attempts).toBe(tried)
})

test('a channel whose `wants` throws holds back no later ask', async () => {
  const error = vi.fn()
  const chat = desk('chat', 'verified', {
    wants: ({ procedure }) => {
      if (procedure === 'odd') throw new Error('no such group')
      return true
    },
  })
  const odd = asking({}, 'odd')
  await using engine = await startChannels([chat], {
    procedures: [asking(), odd],
    logger: { ...silent, error },
  })
  await askOnce(engine, odd)
  const { ask } = await askOnce(engine)
  await expect.poll(() => chat.delivered).toEqual([ask.id])
  expect(error).toHaveBeenCalledWith(expect.stringContaining('`wants` threw'), expect.anything())
})

test('a channel that is added later delivers what is open, and one that was away hears what was closed', async () => {
  const store = memory()
  const client = createClient({ store })
  const first = await createEngine({ store, procedures: [asking()], logger: silent })
  const { ask: before } = await askOnce(first)
  const chat = desk('chat')
  const second = await createEngine({ store, procedures: [], plugins: [channels([chat])], logger: silent })
  await expect.poll(() => chat.delivered).toEqual([before.id])
  await second.stop()
  const { ask: meanwhile } = await askOnce(first)
  await client.inbox.answer(before.id, { approved: true }, { as: 'user:ana' })
  const third = await createEngine({ store, procedures: [], plugins: [channels([chat])], logger: silent })
  await expect.poll(() => chat.updated).toEqual([`chat:${before.id} answered user:ana`])
  await expect.poll(() => chat.delivered).toEqual([before.id, meanwhile.id])
  await Promise.all([first.stop(), third.stop(), client.stop()])
})

test('two engines with a channel deliver an ask once', async () => {
  const store = memory()
  const chat = desk('chat')
  const other = desk('chat')
  await using engine = await startChannels([chat], { store })
  await using _second = await startChannels([other], { store, procedures: [] })
  const asks = []
  for (let n = 0; n < 5; n += 1) asks.push((await askOnce(engine)).ask.id)
  await expect.poll(() => [...chat.delivered, ...other.delivered].toSorted()).toEqual(asks.toSorted())
  for (const ask of asks) await engine.inbox.answer(ask, { approved: true }, { as: 'user:ana' })
  await expect.poll(() => [...chat.updated, ...other.updated]).toHaveLength(5)
})

test.each([
  [{ name: 'Mail' }, /name of a channel/],
  [{ can: { form: 'all', identity: 'none' } }, /can.form of channel chat/],
  [{ can: { form: 'none', identity: 'mail' } }, /can.identity of channel chat/],
  [{ can: { form: 'none', identity: 'none', kinds: ['vote'] } }, /can.kinds of channel chat/],
  [{ deliver: 'now' }, /deliver of channel chat/],
] as const)('an engine refuses a channel with %j', async (wrong, message) => {
  const channel = Object.assign(desk('chat'), wrong)
  await expect(startChannels([channel])).rejects.toThrow(message)
})

test('an engine refuses two channels with one name, and links without a long key', async () => {
  await expect(startChannels([desk('chat'), desk('chat')])).rejects.toThrow(/unique/)
  const links = { publicUrl: 'https://pawl.example.org', keys: ['short'] } as const
  await expect(startChannels([], { links })).rejects.toThrow(/32 characters/)
})
