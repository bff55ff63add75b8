import { createClient, createEngine, procedure, type Store } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Channel } from '../../packages/core/src/client/channels/channel.ts'
import { type NotifyProcedure, notifyProcedure } from '../../packages/core/src/client/channels/notify.ts'
import type { Ask } from '../../packages/core/src/client/views/views.ts'

const id = 'notify:a:desk'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const retry = { attempts: 3, backoff: '10ms', jitter: 'none' } as const

/** A desk beside an ask. `deliver` says what an attempt does. */
function scene(deliver: () => Promise<void>, more: Partial<Channel> = {}) {
  const told: string[] = []
  const ask = { status: 'open' as Ask['status'] }
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
  const readAsk = async () => ({ id: 'a', ...ask }) as Ask
  const parts = { readAsk, addressesOf: () => ({ link: undefined, page: undefined }), retry }
  return { told, ask, make: () => notifyProcedure(channel, parts) }
}

/** Ends an engine as a kill does: what it has begun is not recorded. */
async function dieAt(store: Store, of: NotifyProcedure, moment: Promise<void>): Promise<void> {
  const engine = await createEngine({ store, procedures: [of], logger: silent })
  await engine.run(of, undefined, { id })
  await moment
  await engine.stop({ within: '0s' })
}

async function finish(store: Store, of: NotifyProcedure): Promise<void> {
  const client = createClient({ store })
  await client.get(of, id).signal('closed', null)
  const engine = await createEngine({ store, procedures: [of], logger: silent })
  expect(await client.get(id).result()).toBe('closed')
  await Promise.all([engine.stop(), client.stop()])
}

/** A promise, and what ends it. */
function moment(): readonly [promise: Promise<void>, end: () => void] {
  let end = (): void => {}
  const promise = new Promise<void>((resolve) => {
    end = resolve
  })
  return [promise, end]
}

describe('a delivery whose ask is closed', () => {
  test.each([
    ['without recipients', {}],
    ['with recipients', { recipients: () => [{ name: 'user:ana' as const }] }],
  ])('is made again and updated if an attempt before a crash may have made it, %s', async (_, more) => {
    const [begun, begin] = moment()
    let hangs = true
    const deliver = async (): Promise<void> => {
      begin()
      if (hangs) await new Promise(() => {})
    }
    const { told, ask, make } = scene(deliver, more)
    const store = memory()
    await dieAt(store, make(), begun)
    hangs = false
    ask.status = 'answered'
    await finish(store, make())
    expect(told).toEqual(['delivered open', 'delivered answered', 'updated r answered'])
  })

  test('is not made again by a channel that could not update it', async () => {
    const [begun, begin] = moment()
    const deliver = (): Promise<void> => {
      begin()
      return new Promise(() => {})
    }
    const { told, ask, make } = scene(deliver, { update: undefined as never })
    const store = memory()
    await dieAt(store, make(), begun)
    ask.status = 'answered'
    await finish(store, make())
    expect(told).toEqual(['delivered open'])
  })

  test('is not made if none was attempted before', async () => {
    const { told, ask, make } = scene(async () => {})
    ask.status = 'withdrawn'
    const store = memory()
    const of = make()
    const client = createClient({ store })
    await client.run(of, undefined, { id })
    await finish(store, of)
    await client.stop()
    expect(told).toEqual([])
  })

  test('is not made if the attempts before have failed', async () => {
    const { told, ask, make } = scene(async () => {
      ask.status = 'answered'
      throw new Error('connection refused')
    })
    const store = memory()
    const of = make()
    const client = createClient({ store })
    await client.run(of, undefined, { id })
    await finish(store, of)
    await client.stop()
    expect(told).toEqual(['delivered open'])
  })
})

test('a run that an earlier version began continues', async () => {
  const { told, ask, make } = scene(async () => {})
  const earlier = procedure(
    { name: 'pawl.notify.desk', signals: { closed: z.unknown(), comment: z.unknown() } },
    async (ctx) => {
      await ctx.map([undefined], (_, ctx) => ctx.step('deliver', () => 'r'))
      await ctx.receiveAny(['comment', 'closed'])
      return 'closed' as const
    },
  )
  const store = memory()
  const engine = await createEngine({ store, procedures: [earlier], logger: silent })
  const run = await engine.run(earlier, undefined, { id })
  await expect.poll(async () => (await run.status()).status).toBe('waiting')
  await engine.stop()
  ask.status = 'answered'
  await finish(store, make())
  expect(told).toEqual(['updated r answered'])
})
