import { type Channel, channels } from '@pawl/channels'
import { createClient, createEngine, FinalError, type Notice, procedure } from '@pawl/core'
import { connectTo } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { desk, silent, startChannels } from './support.ts'

const tell = procedure({ name: 'tell', input: z.string() }, async (ctx, what) => {
  await ctx.human.notify('It is {what}', { data: { what }, severity: 'warning', to: 'group:ops' })
})

/** A channel that remembers the notices it was given. */
function board(name = 'board', more: Partial<NonNullable<Channel['notices']>> = {}) {
  const told: string[] = []
  const notices: Channel['notices'] = {
    deliver: async ({ severity, message }, { recipient }) => {
      told.push([severity, message, ...(recipient === undefined ? [] : [recipient.name])].join(' '))
    },
    ...more,
  }
  return { told, channel: desk(name, 'verified', { notices }) }
}

const procedures = [tell]
const start = (channel: Channel, store: ReturnType<typeof memory>) =>
  createEngine({ store, procedures, plugins: [channels([channel])], logger: silent })

test('a notice is delivered to each channel that delivers notices, and opens nothing', async () => {
  const [chat, wall] = [board('chat'), board('wall')]
  const asksOnly = desk('asks')
  await using engine = await startChannels([chat.channel, wall.channel, asksOnly], { procedures })
  await (await engine.run(tell, 'late')).result()
  await expect.poll(() => [...chat.told, ...wall.told]).toEqual(['warning It is late', 'warning It is late'])
  const [notice] = (await engine.inbox.notices()).items
  const deliveries = async () =>
    (await engine.list({ tag: `pawl.notice:${notice?.id}` })).items.map(({ id, status }) => `${id} ${status}`)
  await expect
    .poll(async () => (await deliveries()).toSorted())
    .toEqual(['chat', 'wall'].map((name) => `notify:notice-${notice?.id}:${name} completed`))
  expect(asksOnly.delivered).toEqual([])
  const ana = { as: 'user:ana', names: ['group:ops'] } as const
  for (const reply of [{ decision: 'approve' }, { comment: 'seen' }])
    await expect(chat.channel.submit(notice?.id ?? '', reply, ana)).rejects.toMatchObject({
      code: 'ask-not-found',
    })
})

test('two engines, and the starts that follow, deliver a notice once', async () => {
  const store = memory()
  const { told, channel } = board()
  const engines = await Promise.all([start(channel, store), start(channel, store)])
  await (await engines[0].run(tell, 'late', { id: 'a' })).result()
  await expect.poll(() => told).toEqual(['warning It is late'])
  await Promise.all(engines.map((engine) => engine.stop()))
  const third = await start(channel, store)
  await (await third.run(tell, 'lost')).result()
  await expect.poll(() => told).toContain('warning It is lost')
  expect(told).toEqual(['warning It is late', 'warning It is lost'])
  await third.stop()
})

test('a retried run tells a channel nothing twice', async () => {
  const isDown = { now: true }
  const failing = procedure({ name: 'failing' }, async (ctx) => {
    await ctx.human.notify('It begins')
    await ctx.step('fails', () => isDown.now && Promise.reject(new Error('down')), { retry: false })
    await ctx.human.notify('It ends')
  })
  const { told, channel } = board()
  await using engine = await startChannels([channel], { procedures: [failing] })
  const run = await engine.run(failing)
  await run.result().catch(() => {})
  isDown.now = false
  await engine.retry(run.id)
  await run.result()
  await expect.poll(() => told).toContain('info It ends')
  expect(told.toSorted()).toEqual(['info It begins', 'info It ends'])
})

test('a new channel delivers what is told from then on, and one that was away what it has missed', async () => {
  const store = memory()
  const bare = await createEngine({ store, procedures, logger: silent })
  await (await bare.run(tell, 'old')).result()
  const { told, channel } = board()
  // It begins before it has delivered anything.
  const first = await start(channel, store)
  await expect
    .poll(async () => (await bare.list({ procedure: 'pawl.notice.board', status: 'completed' })).items)
    .toHaveLength(1)
  await first.stop()
  await (await bare.run(tell, 'missed')).result()
  const second = await start(channel, store)
  await (await bare.run(tell, 'new')).result()
  await expect.poll(() => told.toSorted()).toEqual(['warning It is missed', 'warning It is new'])
  await Promise.all([bare.stop(), second.stop()])
})

test('a channel that was away for longer than the feed is kept delivers what is left of it', async () => {
  let now = Date.UTC(2026, 0, 1)
  const store = memory({ now: () => now })
  const bare = await createEngine({ store, procedures, logger: silent })
  const { told, channel } = board()
  const first = await start(channel, store)
  await expect
    .poll(async () => (await bare.list({ procedure: 'pawl.notice.board', status: 'completed' })).items)
    .toHaveLength(1)
  await first.stop()
  await (await bare.run(tell, 'trimmed')).result()
  now += 1_000
  const trimmedAt = now
  await (await bare.run(tell, 'left')).result()
  const port = connectTo(store)
  await port?.open()
  expect(await port?.feed.trim(trimmedAt, 1_000)).toBeGreaterThan(0)
  await port?.close()
  const second = await start(channel, store)
  await expect.poll(() => told).toEqual(['warning It is left'])
  await second.stop()
  await bare.stop()
})

test('a notice of a run that an engine resumes as it starts is delivered, also by a channel that is new', async () => {
  const store = memory()
  const gone = procedure({ name: 'gone', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    await ctx.human.notify('It goes on')
  })
  const client = createClient({ store })
  await client.run(gone, undefined, { id: 'a' })
  await client.get(gone, 'a').signal('go')
  const { told, channel } = board()
  const engine = await createEngine({
    store,
    procedures: [gone],
    plugins: [channels([channel])],
    logger: silent,
  })
  await expect.poll(() => told).toEqual(['info It goes on'])
  await Promise.all([engine.stop(), client.stop()])
})

test('each recipient has a delivery of their own, with the page of the notices and no link that answers', async () => {
  const links = { publicUrl: 'https://pawl.example.org/', keys: ['k'.repeat(32)] } as const
  const given: unknown[] = []
  const { channel } = board('mail', {
    recipients: ({ to }) => [
      { name: 'user:ana', address: 'ana@example.org' },
      ...to.map((name) => ({ name })),
    ],
    deliver: async ({ isRead }, { recipient, page, ...call }) =>
      void given.push([recipient?.name, recipient?.address, page, isRead, 'link' in call]),
  })
  await using engine = await startChannels([channel], { links, procedures })
  await (await engine.run(tell, 'late')).result()
  const page = 'https://pawl.example.org/#/notices'
  await expect.poll(() => given).toHaveLength(2)
  expect(given).toEqual([
    ['user:ana', 'ana@example.org', page, false, false],
    ['group:ops', undefined, page, false, false],
  ])
})

test('a channel takes the notices that it wants, and one whose `wants` throws holds back no later notice', async () => {
  const error = vi.fn()
  const { told, channel } = board('board', {
    wants: ({ message }) => {
      if (message.endsWith('odd')) throw new Error('no such group')
      return !message.endsWith('dull')
    },
  })
  await using engine = await startChannels([channel], { procedures, logger: { ...silent, error } })
  for (const what of ['odd', 'dull', 'late']) await (await engine.run(tell, what)).result()
  await expect.poll(() => told).toEqual(['warning It is late'])
  expect(error).toHaveBeenCalledWith(expect.stringContaining('does not deliver notice'), expect.anything())
})

test('a delivery that dies before its record is made again, with the same key', async () => {
  const store = memory()
  const keys: string[] = []
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const first = await start(
    board('board', {
      deliver: (_, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        begin()
        return new Promise(() => {})
      },
    }).channel,
    store,
  )
  await first.run(tell, 'late')
  await begun
  await first.stop({ within: '0s' })
  const second = await start(
    board('board', { deliver: async (_, { idempotencyKey }) => void keys.push(idempotencyKey) }).channel,
    store,
  )
  await expect.poll(() => keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(1)
  await second.stop()
})

test('a notice that is deleted before its delivery is not delivered, and the delivery ends', async () => {
  const store = memory()
  const client = createClient({ store })
  const { told, channel } = board()
  const bare = await createEngine({ store, procedures, logger: silent })
  const first = await start(channel, store)
  await expect.poll(async () => (await client.list({ procedure: 'pawl.notice.board' })).items).toHaveLength(1)
  await first.stop()
  await (await bare.run(tell, 'deleted', { id: 'a' })).result()
  await client.delete('a')
  await (await bare.run(tell, 'kept')).result()
  const second = await start(channel, store)
  await expect.poll(() => told).toEqual(['warning It is kept'])
  await Promise.all([bare.stop(), second.stop(), client.stop()])
})

describe('what an engine and a plan tell', () => {
  test('an undo that failed reaches the owner of the procedure', async () => {
    const seen: Notice[] = []
    const { channel } = board('board', { deliver: async (notice) => void seen.push(notice) })
    const paid = procedure({ name: 'paid', owner: 'group:money' }, async (ctx) => {
      await ctx.step('charge', () => {}, { undo: () => Promise.reject(new FinalError('the bank says no')) })
      throw new FinalError('after all')
    })
    await using engine = await startChannels([channel], { procedures: [paid] })
    await (await engine.run(paid)).result().catch(() => {})
    await expect
      .poll(() => seen)
      .toMatchObject([{ kind: 'failed-undo', severity: 'critical', to: ['group:money'] }])
  })

  test('the alert of a plan is delivered', async () => {
    const { told, channel } = board()
    const send = { run: () => 'sent', undo: () => {}, retry: false } as const
    const check = { run: () => Promise.reject(new FinalError('no')), retry: false } as const
    const planned = procedure({ name: 'planned' }, async (ctx) => {
      await ctx.plan(
        [
          { id: 'send', use: 'send' },
          { id: 'check', use: 'check', needs: ['send'] },
        ],
        { use: { send, check }, onError: 'rollback', alert: 'group:ops' },
      )
    })
    await using engine = await startChannels([channel], { procedures: [planned] })
    await (await engine.run(planned)).result()
    await expect.poll(() => told).toEqual([expect.stringContaining('check')])
  })
})

test.each([
  [{}, 'deliver'],
  [{ deliver: async () => {}, wants: true }, 'wants'],
  [{ deliver: async () => {}, recipients: 'ana' }, 'recipients'],
])('notices %j of a channel are refused', (notices, part) => {
  const channel = desk('board', 'none', { notices: notices as never })
  expect(() => channels([channel])).toThrow(
    expect.objectContaining({ code: 'option-invalid', message: expect.stringContaining(part) }),
  )
})
