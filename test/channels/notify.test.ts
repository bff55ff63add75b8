import { type Channel, channels } from '@pawl/channels'
import { type Ask, type Client, createClient, createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { asking, askOnce, silent } from './support.ts'

/** A desk that says what it was told. `deliver` says what an attempt does. */
function newDesk(deliver: () => Promise<void>, more: Partial<Channel> = {}) {
  const told: string[] = []
  const channel: Channel = {
    ...{ name: 'desk', can: { form: 'full', identity: 'none' } },
    async deliver({ status }) {
      told.push(`delivered ${status}`)
      await deliver()
      return { ref: 'r' }
    },
    update: async (ref, { status }) => void told.push(`updated ${ref} ${status}`),
    ...more,
  }
  return { told, channel }
}

/** Ends an engine as a kill does while it delivers an ask: what it has begun is not recorded. */
async function dieDelivering(more: Partial<Channel>) {
  const store = memory()
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const deliver = (): Promise<void> => {
    begin()
    return new Promise(() => {})
  }
  const { told, channel } = newDesk(deliver, more)
  const engine = await createEngine({
    store,
    procedures: [asking()],
    plugins: [channels([channel])],
    logger: silent,
  })
  const { ask } = await askOnce(engine)
  await begun
  await engine.stop({ within: '0s' })
  return { store, told, ask }
}

async function answer(client: Client, { id }: Ask): Promise<void> {
  await client.inbox.answer(id, { approved: true }, { as: 'user:ana' })
}

/** Answers the ask, and lets a second engine finish its delivery. */
async function finish(store: ReturnType<typeof memory>, ask: Ask, channel: Channel): Promise<void> {
  const client = createClient({ store })
  await answer(client, ask)
  const engine = await createEngine({ store, procedures: [], plugins: [channels([channel])], logger: silent })
  expect(await client.get(`notify:${ask.id}:desk`).result()).toBe('closed')
  await Promise.all([engine.stop(), client.stop()])
}

const earlier = procedure(
  { name: 'pawl.notify.desk', signals: { closed: z.unknown(), comment: z.unknown() } },
  async (ctx) => {
    await ctx.map([undefined], (_, ctx) => ctx.step('deliver', () => 'r'))
    await ctx.receiveAny(['comment', 'closed'])
    return 'closed' as const
  },
)

describe('a delivery whose ask is closed', () => {
  test.each<[string, Partial<Channel>]>([
    ['without recipients', {}],
    ['with recipients', { recipients: () => [{ name: 'user:ana' }] }],
  ])('is made again and updated if an attempt before a crash may have made it, %s', async (_, more) => {
    const { store, told, ask } = await dieDelivering(more)
    const second = newDesk(async () => {}, more)
    await finish(store, ask, second.channel)
    expect([...told, ...second.told]).toEqual(['delivered open', 'delivered answered', 'updated r answered'])
  })

  test('is made again although an attempt has failed since the crash', async () => {
    const { store, told, ask } = await dieDelivering({})
    let attempts = 0
    const second = newDesk(async () => {
      if (++attempts === 1) throw new Error('connection refused')
    })
    await finish(store, ask, second.channel)
    expect([...told, ...second.told]).toEqual([
      ...['delivered open', 'delivered answered', 'delivered answered', 'updated r answered'],
    ])
  })

  test('is not made again by a channel that could not update it', async () => {
    const more = { update: undefined as never }
    const { store, ask } = await dieDelivering(more)
    const second = newDesk(async () => {}, more)
    await finish(store, ask, second.channel)
    expect(second.told).toEqual([])
  })

  test('is not made if none was attempted before', async () => {
    const store = memory()
    const engine = await createEngine({ store, procedures: [asking()], logger: silent })
    const { ask } = await askOnce(engine)
    const client = createClient({ store })
    const run = await client.run(earlier, undefined, { id: `notify:${ask.id}:desk` })
    await answer(client, ask)
    await run.signal('closed', null)
    await Promise.all([engine.stop(), client.stop()])
    const { told, channel } = newDesk(async () => {})
    const second = await createEngine({
      store,
      procedures: [],
      plugins: [channels([channel])],
      logger: silent,
    })
    expect(await second.get(run.id).result()).toBe('closed')
    await second.stop()
    expect(told).toEqual([])
  })
})

test('a delivery that an earlier version began continues', async () => {
  const store = memory()
  const engine = await createEngine({
    ...{ store, procedures: [asking()], logger: silent },
    plugins: [{ name: 'channels', procedures: [earlier] }],
  })
  const { ask } = await askOnce(engine)
  const run = await engine.run(earlier, undefined, { id: `notify:${ask.id}:desk` })
  await expect.poll(async () => (await run.status()).status).toBe('waiting')
  await engine.stop()
  const { told, channel } = newDesk(async () => {})
  const client = createClient({ store })
  await client.get(earlier, run.id).signal('closed', null)
  await client.stop()
  await finish(store, ask, channel)
  expect(told).toEqual(['updated r answered'])
})
