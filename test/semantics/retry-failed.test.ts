import { createClient, createEngine, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { refusalOf, silent } from './support.ts'

/** A step that fails until it is mended, and the keys that its calls were given. */
function breakable() {
  const state = { isBroken: true, keys: [] as string[] }
  const body = ({ idempotencyKey }: { readonly idempotencyKey: string }): string => {
    state.keys.push(idempotencyKey)
    if (state.isBroken) throw new Error('card declined')
    return 'paid'
  }
  return { state, body }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

const once = { retry: { attempts: 1 } } as const

describe.each(['on-crash', 'always'] as const)('retry of a failed run (%s)', (replay) => {
  test('it continues before the failed result, with the same keys and random values', async () => {
    const { state, body } = breakable()
    const ids: string[] = []
    const order = procedure({ name: 'order' }, async (ctx) => {
      await ctx.step('load', () => 1)
      ids.push(ctx.uuid())
      return ctx.step('pay', body, once)
    })
    await using engine = await testEngine({ procedures: [order], replay })
    const run = await engine.run(order, undefined, { id: 'o', tags: ['shop'], by: 'user:ana' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    const before = await run.status()
    state.isBroken = false
    await engine.retry('o')
    expect(await run.result()).toBe('paid')
    expect(engine.calls).toEqual({ load: 1, pay: 2 })
    expect(new Set(state.keys).size).toBe(1)
    expect(new Set(ids).size).toBe(1)
    const { startedAt } = before
    expect(await run.status()).toMatchObject({
      ...{ status: 'completed', generation: 2, tags: ['shop'], startedBy: 'user:ana', startedAt },
    })
    expect((await engine.log('o')).execution_log.map(({ name, status }) => [name, status])).toEqual([
      ['load', 'done'],
      ['pay', 'done'],
    ])
  })

  test('it can be retried several times, and fails again while its cause is there', async () => {
    const { state, body } = breakable()
    const order = procedure({ name: 'order' }, (ctx) => ctx.step('pay', body, once))
    await using engine = await testEngine({ procedures: [order], replay })
    const run = await engine.run(order, undefined, { id: 'o' })
    for (const _ of [1, 2, 3]) {
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      await engine.retry('o')
    }
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('o')
    expect(await run.result()).toBe('paid')
    expect((await run.status()).generation).toBe(5)
    expect(new Set(state.keys).size).toBe(1)
  })

  test('code that threw is run again on all results', async () => {
    let isBroken = true
    const order = procedure({ name: 'order', bugs: 'fail' }, async (ctx) => {
      const loaded = await ctx.step('load', () => 1)
      if (isBroken) throw new Error('not today')
      return ctx.step('pay', () => loaded + 1)
    })
    await using engine = await testEngine({ procedures: [order], replay })
    const run = await engine.run(order, undefined, { id: 'o' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    isBroken = false
    await engine.retry('o')
    expect(await run.result()).toBe(2)
    expect(engine.calls).toEqual({ load: 1, pay: 1 })
  })

  test('a failure that the code caught stays; what caused the end is repeated, with all behind it', async () => {
    const { state, body } = breakable()
    const order = procedure({ name: 'order' }, async (ctx) => {
      const caught = await ctx
        .step('optional', () => Promise.reject(new Error('card declined')), once)
        .catch(() => 'none')
      try {
        return caught + (await ctx.step('pay', body, once))
      } catch (cause) {
        await ctx.step('tell', () => 1)
        throw new Error('the order failed', { cause })
      }
    })
    await using engine = await testEngine({ procedures: [order], replay })
    const run = await engine.run(order, undefined, { id: 'o' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('o')
    expect(await run.result()).toBe('nonepaid')
    expect(engine.calls).toEqual({ optional: 1, pay: 2, tell: 1 })
  })
})

test('an ask that has timed out is asked again at its position', async () => {
  const ask = procedure({ name: 'ask' }, async (ctx) => {
    await ctx.step('load', () => 1)
    const { approved } = await ctx.human.approve('Go?', {
      ...{ key: 'go', timeout: '1h', onTimeout: 'fail' },
    })
    return approved
  })
  await using engine = await testEngine({ procedures: [ask], humans: silent })
  const run = await engine.run(ask, undefined, { id: 'a' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await engine.retry('a')
  const open = await engine.inbox.next({ run: 'a' })
  expect(open).toMatchObject({ position: 1, status: 'open', key: 'go' })
  await engine.inbox.answer(open.id, { approved: true }, { as: 'user:ana' })
  expect(await run.result()).toBe(true)
  expect(engine.calls).toEqual({ load: 1 })
  expect((await engine.inbox.list({ run: 'a', status: 'answered' })).items).toHaveLength(1)
  const timedOut = await engine.inbox.list({ run: 'a', status: 'timed-out' })
  expect(timedOut.items.map(({ id, position }) => [`${id}-2`, position])).toEqual([[open.id, 1]])
})

test('a question that was open at the failure is asked again, and a yes before it is kept', async () => {
  const { state, body } = breakable()
  const both = procedure({ name: 'both' }, async (ctx) => {
    const { approved } = await ctx.human.approve('First?')
    await Promise.all([ctx.human.approve('Second?'), ctx.step('pay', body, once)])
    return approved
  })
  await using engine = await testEngine({ procedures: [both], humans: silent })
  const run = await engine.run(both, undefined, { id: 'b' })
  const answer = async () => {
    const { id } = await engine.inbox.next({ run: 'b' })
    await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
    return (await engine.inbox.get(id))?.message
  }
  await answer()
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  await engine.retry('b')
  expect(await answer()).toBe('Second?')
  expect(await run.result()).toBe(true)
})

test('signals that came behind the failure are received again, and unread ones are kept', async () => {
  const { state, body } = breakable()
  const shop = procedure(
    { name: 'shop', signals: { note: z.string(), go: z.string() } },
    async (ctx): Promise<string> => {
      try {
        await ctx.step('pay', body, once)
      } catch (error) {
        await ctx.receive('note')
        throw error
      }
      return `${await ctx.receive('note')} ${await ctx.receive('note')} ${await ctx.receive('go')}`
    },
  )
  await using engine = await testEngine({ procedures: [shop] })
  const run = await engine.run(shop, undefined, { id: 's' })
  await run.signal('go', 'now', { id: 'g' })
  await run.signal('note', 'first', { id: 'n' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  await engine.retry('s')
  await run.signal('note', 'first', { id: 'n' })
  await run.signal('note', 'second')
  expect(await run.result()).toBe('first second now')
})

describe('children', () => {
  const pay = (body: (call: { readonly idempotencyKey: string }) => string) =>
    procedure({ name: 'pay' }, async (ctx) => {
      await ctx.step('reserve', () => 1)
      return ctx.step('charge', body, once)
    })

  test('a child whose failure ended its parent is retried first, and repeats nothing', async () => {
    const { state, body } = breakable()
    const child = pay(body)
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.step('before', () => 1)
      return ctx.call(child)
    })
    await using engine = await testEngine({ procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('p')
    expect(await run.result()).toBe('paid')
    expect(engine.calls).toEqual({ before: 1, reserve: 1, charge: 2 })
    expect((await engine.list({ parent: 'p' })).items).toHaveLength(1)
  })

  test('the end of a child that came meanwhile is there: nothing waits for ever', async () => {
    const { state, body } = breakable()
    const child = pay(body)
    const parent = procedure({ name: 'parent' }, (ctx) => ctx.call(child, undefined, { id: 'c' }))
    await using engine = await testEngine({ procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('c')
    expect(await engine.get('c').result()).toBe('paid')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    await engine.retry('p')
    expect(await run.result()).toBe('paid')
    expect(engine.calls).toEqual({ reserve: 1, charge: 2 })
  })

  test.each(['run', 'spawn'] as const)(
    'a child that the end of its parent has cancelled continues where it was (%s)',
    async (how) => {
      const { state, body } = breakable()
      const child = procedure({ name: 'child', signals: { go: z.void() } }, async (ctx) => {
        await ctx.step('reserve', () => 1)
        await ctx.receive('go')
        return 'went'
      })
      const parent = procedure({ name: 'parent', signals: { fail: z.void() } }, async (ctx) => {
        const went =
          how === 'run'
            ? ctx.call(child, undefined, { id: 'c' })
            : ctx.spawn(child, undefined, { id: 'c' }).then((handle) => handle.result())
        const paid = ctx.receive('fail').then(() => ctx.step('pay', body, once))
        return (await Promise.all([went, paid])).join()
      })
      await using engine = await testEngine({ procedures: [parent, child] })
      const run = await engine.run(parent, undefined, { id: 'p' })
      await until(async () => (await engine.list({ status: 'waiting' })).items.some(({ id }) => id === 'c'))
      await run.signal('fail')
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      await until(async () => (await engine.get('c').status()).status === 'cancelled')
      state.isBroken = false
      await engine.retry('p')
      await engine.get(child, 'c').signal('go')
      expect(await run.result()).toBe('went,paid')
      expect(engine.calls).toEqual({ reserve: 1, pay: 2 })
    },
  )

  test('a child that has undone its steps does them again neither alone nor with its parent', async () => {
    const { state, body } = breakable()
    const child = procedure({ name: 'child' }, async (ctx) => {
      await ctx.step('reserve', () => 1, { undo: () => {} })
      return ctx.step('charge', body, once)
    })
    const parent = procedure({ name: 'parent' }, (ctx) => ctx.call(child, undefined, { id: 'c' }))
    await using engine = await testEngine({ procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    for (const id of ['c', 'p'])
      expect(await refusalOf(engine.retry(id))).toMatchObject({ code: 'run-rolled-back' })
    expect(engine.calls).toMatchObject({ reserve: 1, charge: 1 })
  })

  test('a parent that has caught the failure of a child is not disturbed by its retry', async () => {
    const { state, body } = breakable()
    const child = pay(body)
    const parent = procedure({ name: 'parent', signals: { go: z.void() } }, async (ctx) => {
      const outcome = await ctx.call(child, undefined, { id: 'c' }).catch(() => 'failed')
      await ctx.receive('go')
      return outcome
    })
    await using engine = await testEngine({ procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await until(async () => (await run.status()).status === 'waiting')
    await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('c')
    expect(await engine.get('c').result()).toBe('paid')
    await run.signal('go')
    expect(await run.result()).toBe('failed')
  })
})

test('a fork that failed is retried with its own keys, and the values of its original', async () => {
  const { state, body } = breakable()
  const drawn: string[][] = []
  const order = procedure({ name: 'order' }, async (ctx) => {
    const mine: string[] = [ctx.uuid()]
    drawn.push(mine)
    await ctx.step('load', () => 1)
    mine.push(ctx.uuid())
    await ctx.step('check', () => 2)
    mine.push(ctx.uuid())
    return ctx.step('pay', body, once)
  })
  await using engine = await testEngine({ procedures: [order] })
  await expect((await engine.run(order, undefined, { id: 'o' })).result()).rejects.toThrow()
  const fork = await engine.fork('o', { position: 1 }, { id: 'f' })
  await expect(fork.result()).rejects.toThrow()
  state.isBroken = false
  await engine.retry('f')
  expect(await fork.result()).toBe('paid')
  const [original, first, second] = drawn
  expect(second).toEqual(first)
  expect(first?.slice(0, 2)).toEqual(original?.slice(0, 2))
  expect(first?.[2]).not.toBe(original?.[2])
  expect(new Set(state.keys).size).toBe(2)
  expect(state.keys[1]).toBe(state.keys[2])
  expect(await fork.status()).toMatchObject({ generation: 2, forkedFrom: { run: 'o', position: 1 } })
})

test('a fork does not end what its original has spawned', async () => {
  const child = procedure({ name: 'child', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
  const parent = procedure({ name: 'parent', signals: { end: z.void() } }, async (ctx) => {
    await ctx.spawn(child, undefined, { id: 'c' })
    await ctx.step('next', () => 1)
    await ctx.receive('end')
  })
  await using engine = await testEngine({ procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await until(async () => (await run.status()).status === 'waiting')
  const fork = await engine.fork('p', { position: 1 })
  await engine.get(parent, fork.id).signal('end')
  await fork.result()
  expect((await engine.get('c').status()).cancelRequestedAt).toBeUndefined()
  await run.signal('end')
  await run.result()
  await until(async () => (await engine.get('c').status()).status === 'cancelled')
})

test('a run that has undone its steps, and one that did not fail, are refused', async () => {
  const { body } = breakable()
  const undone = procedure({ name: 'undone' }, async (ctx) => {
    await ctx.step('reserve', () => 1, { undo: () => {} })
    return ctx.step('charge', body, once)
  })
  const fine = procedure({ name: 'fine' }, async () => 1)
  const long = procedure({ name: 'long' }, (ctx) => ctx.sleep('1d'))
  await using engine = await testEngine({ procedures: [undone, fine, long] })
  await expect((await engine.run(undone, undefined, { id: 'u' })).result()).rejects.toThrow()
  await (await engine.run(fine, undefined, { id: 'f' })).result()
  const cancelled = await engine.run(long, undefined, { id: 'l' })
  await cancelled.cancel()
  await expect(cancelled.result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect(await refusalOf(engine.retry('u'))).toMatchObject({
    ...{ code: 'run-rolled-back', details: { run: 'u' } },
    message:
      'Run u has undone its steps and cannot be retried. It stays as it is. Start a run with a different id.',
  })
  for (const id of ['f', 'l'])
    expect(await refusalOf(engine.retry(id))).toMatchObject({
      ...{ code: 'run-ended', message: expect.stringContaining(`client.fork('${id}', { position })`) },
    })
})

test('the timeout of a run counts from its retry', async () => {
  const { state, body } = breakable()
  const order = procedure({ name: 'order', signals: { go: z.void() } }, async (ctx) => {
    await ctx.step('pay', body, once)
    await ctx.receive('go')
  })
  await using engine = await testEngine({ procedures: [order] })
  const run = await engine.run(order, undefined, { id: 'o', timeout: '1h' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await engine.advance('2h')
  state.isBroken = false
  await engine.retry('o')
  await until(async () => (await run.status()).status === 'waiting')
  await engine.advance('59m')
  expect((await run.status()).status).toBe('waiting')
  await engine.advance('2m')
  await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
})

test('a run that is retried with its cancel shows at once who cancelled it, and a later cancel changes nothing', async () => {
  const store = memory()
  let isBroken = true
  const untidy = procedure({ name: 'untidy', bugs: 'fail' }, async (ctx) => {
    try {
      await ctx.sleep('1h')
    } catch (error) {
      if (isBroken) throw new Error('cleanup')
      throw error
    }
  })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const options = { store, procedures: [untidy], logger }
  const first = await createEngine(options)
  const run = await first.run(untidy, undefined, { id: 'u' })
  await first.cancel('u', 'first', { by: 'user:olga' })
  await expect(run.result()).rejects.toThrow('cleanup')
  await first.stop()

  const client = createClient({ store })
  onTestFinished(() => client.stop())
  await client.retry('u')
  const cancelled = { cancelReason: 'first', cancelledBy: 'user:olga' }
  expect(await client.get('u').status()).toMatchObject({ ...cancelled, cancelRequestedAt: expect.any(Date) })
  await client.cancel('u', 'second', { by: 'user:root' })
  expect(await client.get('u').status()).toMatchObject(cancelled)
  isBroken = false
  const second = await createEngine(options)
  onTestFinished(() => second.stop())
  await expect(second.get('u').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect(await client.get('u').status()).toMatchObject({ status: 'cancelled', ...cancelled })
})
