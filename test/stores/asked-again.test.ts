import { createEngine, type Logger, procedure } from '@pawl/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const ana = { as: 'user:ana' } as const
const yes = { approved: true } as const

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

describe('a question that is asked again', () => {
  const makePlace = makePlaces()
  /** A run that asks, and fails while people think. What it asks depends on the world of today. */
  async function setUp() {
    const place = await makePlace()
    const world = { amount: 1, isDown: true }
    const send = procedure({ name: 'send' }, async (ctx) => {
      const asked = ctx.human.approve('Send {n} EUR?', { params: { n: world.amount }, key: 'send' })
      await ctx.step('look', () => world.isDown && Promise.reject(new Error('down')), { retry: false })
      const answer = await asked
      return answer.approved ? `sent ${answer.params.n}` : 'not sent'
    })
    const engine = await createEngine({ store: place.store, logger: silent, procedures: [send] })
    onTestFinished(async () => {
      await engine.stop()
      await place.remove()
    })
    const run = await engine.run(send, undefined, { id: 's' })
    /** Retries the run, and returns the question it asks then. */
    const askAgain = async () => {
      await engine.retry('s')
      return engine.inbox.next({ run: 's' })
    }
    await run.result().catch(() => {})
    const [first] = (await engine.inbox.list({ run: 's', status: 'withdrawn' })).items
    if (first === undefined) throw new Error('it has not asked')
    return { engine, run, send, world, first, askAgain }
  }

  test('a question that is asked again is another one, and what was shown before answers nothing', async () => {
    const { engine, run, world, first, askAgain } = await setUp()
    Object.assign(world, { amount: 1_000_000, isDown: false })
    const second = await askAgain()
    expect(first).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{16}$/), message: 'Send 1 EUR?' })
    expect(second).toMatchObject({ id: `${first.id}-2`, message: 'Send 1000000 EUR?', position: 0 })
    for (const shown of [first.id, 's/0']) {
      const closed = { code: 'ask-closed', details: { status: 'withdrawn' } }
      await expect(engine.inbox.answer(shown, yes, ana)).rejects.toMatchObject(closed)
      const resolution = { decision: 'approve' }
      await expect(engine.resume({ checkpoint: shown, resolution }, ana)).rejects.toMatchObject(closed)
      await expect(engine.resume({ checkpoint: shown, resolution: yes }, ana)).rejects.toMatchObject(closed)
      expect(await engine.inbox.get(shown)).toMatchObject({ id: first.id, status: 'withdrawn', position: 0 })
    }
    await until(async () => (await run.status()).status === 'waiting')
    expect((await run.status()).waitingFor).toMatchObject([{ kind: 'ask', ask: second.id, position: 0 }])
    expect(await engine.inbox.get('s/0-2')).toMatchObject({ id: second.id, status: 'open' })
    await engine.inbox.answer(second.id, yes, ana)
    expect(await run.result()).toBe('sent 1000000')
    expect(await engine.inbox.get(second.id)).toMatchObject({
      status: 'answered',
      answer: { by: 'user:ana' },
    })
  })

  test('an answer by key is for the question that is open', async () => {
    const { engine, run, world, askAgain } = await setUp()
    world.isDown = false
    const second = await askAgain()
    await engine.inbox.answer({ run: 's', key: 'send' }, yes, ana)
    expect(await run.result()).toBe('sent 1')
    expect(await engine.inbox.get(second.id)).toMatchObject({ status: 'answered', key: 'send' })
  })

  test('the feed names each asking', async () => {
    const { engine, run, world, first, askAgain } = await setUp()
    world.isDown = false
    const second = await askAgain()
    await engine.inbox.answer(second.id, yes, ana)
    await run.result()
    const seen: unknown[] = []
    for await (const { event, ask } of engine.inbox.watch({ after: 0 })) {
      seen.push([event, ask])
      if (seen.length === 4) break
    }
    expect(seen).toEqual([
      ['ask.opened', first.id],
      ['ask.closed', first.id],
      ['ask.opened', second.id],
      ['ask.closed', second.id],
    ])
  })

  test('each asking stays, however often it is asked, and leaves with its run', async () => {
    const { engine, run, world, first, askAgain } = await setUp()
    const ids = [first.id]
    for (const n of [2, 3]) {
      await engine.retry('s')
      await run.result().catch(() => {})
      ids.push(`${first.id}-${n}`)
    }
    world.isDown = false
    const last = await askAgain()
    expect(last.id).toBe(`${first.id}-4`)
    const withdrawn = await engine.inbox.list({ run: 's', status: 'withdrawn' })
    expect(withdrawn.items.map(({ id }) => id).sort()).toEqual(ids)
    for (const id of ids)
      await expect(engine.inbox.answer(id, yes, ana)).rejects.toMatchObject({ code: 'ask-closed' })
    await engine.inbox.answer(last.id, yes, ana)
    await run.result()
    await engine.delete('s')
    for (const id of [...ids, last.id]) expect(await engine.inbox.get(id)).toBeNull()
    const { items } = await engine.inbox.list({ archived: true })
    expect(items.map(({ id, position }) => [id, position])).toEqual([[last.id, 0]])
  })

  test('an export has each asking, and its copy continues where the run was', async () => {
    const { engine, run, send, world, askAgain } = await setUp()
    world.isDown = false
    const second = await askAgain()
    const file = await engine.export('s')
    await engine.inbox.answer(second.id, yes, ana)
    await run.result()
    await engine.delete('s')
    await engine.import(file)
    const open = await engine.inbox.next({ run: 's' })
    expect(open.id).toMatch(/^[0-9a-f]{16}-2$/)
    expect(open.id).not.toBe(second.id)
    const [before] = (await engine.inbox.list({ run: 's', status: 'withdrawn' })).items
    expect(`${before?.id}-2`).toBe(open.id)
    await engine.inbox.answer(open.id, yes, ana)
    expect(await engine.get(send, 's').result()).toBe('sent 1')
  })

  test('a fork asks for the first time', async () => {
    const { engine, world, askAgain } = await setUp()
    world.isDown = false
    const second = await askAgain()
    const fork = await engine.fork('s', { checkpoint: second.id }, { id: 'f' })
    const asked = await engine.inbox.next({ run: 'f' })
    expect(asked.id).toMatch(/^[0-9a-f]{16}$/)
    await engine.inbox.answer(asked.id, yes, ana)
    expect(await fork.result()).toBe('sent 1')
  })
})
