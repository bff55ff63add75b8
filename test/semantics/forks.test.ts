import { createClient, createEngine, procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { refusalOf, silent } from './support.ts'

const refund = procedure(
  { name: 'refund', input: z.object({ amount: z.number() }) },
  async (ctx, { amount }) => {
    const order = await ctx.step('load', () => ({ card: 'visa', amount }))
    const token = ctx.uuid()
    const { approved } = await ctx.human.approve('Refund?', { key: 'refund' })
    if (!approved) return ctx.step('decline', () => `declined ${order.card} ${token}`)
    const after = ctx.uuid()
    return ctx.step(
      'refund',
      ({ idempotencyKey }) => `refunded ${order.amount} ${idempotencyKey} ${token} ${after}`,
    )
  },
)

async function refunded(engine: Awaited<ReturnType<typeof testEngine>>) {
  const run = await engine.run(refund, { amount: 45 }, { id: 'r', tags: ['shop'], by: 'user:ana' })
  const ask = await engine.inbox.next({ run: 'r' })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:bob' })
  return run.result() as Promise<string>
}

test('a fork behind the next position of its original is refused, and previewed neither', async () => {
  await using engine = await testEngine({ procedures: [refund], humans: silent })
  await engine.run(refund, { amount: 45 }, { id: 'r' })
  await engine.inbox.next({ run: 'r' })
  const says = expect.stringContaining('The next position of the run is 2')
  for (const fork of [
    () => engine.fork('r', { position: 3 }),
    () => engine.previewFork('r', { position: 99 }),
  ])
    await expect(fork()).rejects.toMatchObject({ code: 'option-invalid', message: says })
  expect((await engine.previewFork('r', { position: 2 })).kept).toBe(1)
})

test.each(['on-crash', 'always'] as const)(
  'a fork repeats only what is behind its cut (%s)',
  async (replay) => {
    await using engine = await testEngine({ procedures: [refund], humans: silent, replay })
    const first = await refunded(engine)
    const fork = await engine.fork('r', { position: 2 }, { id: 'f' })
    const second = (await fork.result()) as string
    expect(engine.calls).toEqual({ load: 1, refund: 2 })
    const [, amount, key, token, after] = first.split(' ')
    const [, otherAmount, otherKey, otherToken, otherAfter] = second.split(' ')
    expect([otherAmount, otherToken]).toEqual([amount, token])
    // What it does again has a key of its own. It draws nothing behind the cut that its original has drawn in the same turn.
    expect(otherKey).not.toBe(key)
    expect(otherAfter).toBe(after)
    expect(await fork.status()).toMatchObject({
      ...{ forkedFrom: { run: 'r', position: 2 }, generation: 1, tags: ['shop'], startedBy: 'user:ana' },
    })
    expect((await engine.log('f')).execution_log.map(({ type }) => type)).toEqual([
      'step',
      'hitl_approval',
      'step',
    ])
  },
)

test('a fork before a question asks it again, and draws values of its own from then on', async () => {
  await using engine = await testEngine({ procedures: [refund], humans: silent })
  const first = await refunded(engine)
  const fork = await engine.fork('r', { position: 1 })
  const ask = await engine.inbox.next({ run: fork.id })
  expect(ask.position).toBe(1)
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:bob' })
  const second = (await fork.result()) as string
  expect(second.split(' ')[3]).toBe(first.split(' ')[3])
  expect(second.split(' ')[4]).not.toBe(first.split(' ')[4])
  expect(engine.calls).toEqual({ load: 1, refund: 2 })
})

test('a fork with another answer takes the other branch', async () => {
  await using engine = await testEngine({ procedures: [refund], humans: silent })
  await refunded(engine)
  const fork = await engine.fork('r', { position: 2 }, { edit: { 1: { approved: false } } })
  expect(await fork.result()).toMatch(/^declined visa/)
  const steps = await engine.fork('r', { position: 1 }, { edit: { 0: { card: 'amex', amount: 7 } } })
  const ask = await engine.inbox.next({ run: steps.id })
  await engine.inbox.answer(ask.id, { approved: false }, { as: 'user:bob' })
  expect(await steps.result()).toMatch(/^declined amex/)
  expect(engine.calls).toEqual({ load: 1, refund: 1, decline: 2 })
})

test('an edited answer names who forked, and that it was given by a fork', async () => {
  await using engine = await testEngine({ procedures: [refund], humans: silent })
  await refunded(engine)
  const changes = { edit: { 1: { approved: false } } }
  const named = await engine.fork('r', { position: 2 }, { ...changes, by: 'user:carl' })
  const unnamed = await engine.fork('r', { position: 2 }, changes)
  for (const [fork, by] of [
    [named, 'user:carl'],
    [unnamed, 'system:fork'],
  ] as const)
    expect((await engine.log(fork.id)).execution_log[1]?.result).toMatchObject({
      ...{ approved: false, by, via: 'fork' },
    })
})

test('results that were there by then are kept, also behind the cut', async () => {
  const both = procedure({ name: 'both' }, async (ctx) => {
    const [a, b] = await Promise.all([ctx.step('a', () => 'a'), ctx.step('b', () => 'b')])
    return ctx.step('c', () => a + b)
  })
  await using engine = await testEngine({ procedures: [both] })
  await (await engine.run(both, undefined, { id: 'b' })).result()
  expect(await (await engine.fork('b', { position: 0 })).result()).toBe('ab')
  expect(engine.calls).toEqual({ a: 2, b: 1, c: 2 })
})

test('a fork of a later generation has its positions', async () => {
  const counter = procedure(
    { name: 'counter', input: z.object({ n: z.number() }) },
    async (ctx, { n }): Promise<number> => {
      const next = await ctx.step('add', () => n + 1)
      if (next < 3) return ctx.continueAs({ n: next })
      return ctx.step('last', () => next * 10)
    },
  )
  await using engine = await testEngine({ procedures: [counter] })
  await (await engine.run(counter, { n: 0 }, { id: 'c' })).result()
  const fork = await engine.fork('c', { position: 3 })
  expect(await fork.result()).toBe(30)
  expect(engine.calls).toEqual({ add: 3, last: 2 })
  expect((await engine.log(fork.id)).execution_log.map(({ position }) => position)).toEqual([2, 3])
  expect(await refusalOf(engine.fork('c', { position: 1 }))).toMatchObject({ code: 'option-invalid' })
})

test('a yes of a gate is asked for again unless its action is kept', async () => {
  const gated = procedure({ name: 'gated' }, async (ctx) => {
    await ctx.step('before', () => 1)
    const paid = await ctx.gate('pay', { params: { cents: 5 }, run: () => 'paid' })
    await ctx.step('after', () => 1)
    return paid.done
  })
  await using engine = await testEngine({ procedures: [gated], humans: silent, policy: () => 'human' })
  const run = await engine.run(gated, undefined, { id: 'g' })
  await engine.inbox.answer(
    (await engine.inbox.next({ run: 'g' })).id,
    { approved: true },
    { as: 'user:ana' },
  )
  expect(await run.result()).toBe(true)
  const entries = (await engine.log('g')).execution_log
  const acted = entries.findIndex(({ name }) => name === 'pay')
  for (const [index, { position }] of entries.entries()) {
    const fork = await engine.fork('g', { position })
    if (index > acted) {
      expect(await fork.result()).toBe(true)
      continue
    }
    const ask = await engine.inbox.next({ run: fork.id })
    expect(ask.status).toBe('open')
    await fork.cancel()
  }
})

test('a fork from a checkpoint that was saved just before the run continued is refused', async () => {
  const signals = { end: z.void() }
  const twice = procedure({ name: 'twice', input: z.number(), signals }, async (ctx, n): Promise<unknown> => {
    await ctx.step('add', () => n + 1)
    return n === 1 ? ctx.continueAs(2) : ctx.receive('end')
  })
  const inner = memory()
  const { store, next } = meddleWith(inner)
  const client = createClient({ store: inner })
  onTestFinished(() => client.stop())
  let checkpoint: string | undefined
  const continues = ([, units]: readonly unknown[]): boolean =>
    (units as readonly Unit[]).some(({ effects }) =>
      effects.some((effect) => effect.do === 'begin-generation'),
    )
  next(
    'log.commit',
    async (go) => {
      checkpoint = (await client.checkpoints.create('t', 'by hand'))?.id
      return go()
    },
    continues,
  )
  const engine = await createEngine({ store, procedures: [twice] })
  onTestFinished(() => engine.stop())
  const run = await engine.run(twice, 1, { id: 't' })
  await expect.poll(async () => (await run.status()).generation).toBe(2)
  const from = { checkpoint: checkpoint ?? '' }
  expect(await refusalOf(client.fork('t', from))).toMatchObject({ code: 'option-invalid' })
})

test('a fork refuses what it cannot do', async () => {
  await using engine = await testEngine({ procedures: [refund], humans: silent })
  await refunded(engine)
  const refused = async (...args: Parameters<typeof engine.fork>) =>
    (await refusalOf(engine.fork(...args))).code
  expect(await refused('nobody', { position: 0 })).toBe('run-not-found')
  expect(await refused('r', { position: 2 }, { id: 'r' })).toBe('id-taken')
  expect(await refused('r', { position: -1 })).toBe('option-invalid')
  expect(await refused('r', { position: 1 }, { edit: { 2: 'later' } })).toBe('option-invalid')
  for (const key of ['', '01', '0x0'])
    expect(await refused('r', { position: 2 }, { edit: { [key]: {} } as never })).toBe('option-invalid')
})

describe('a fork of a cancelled run', () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    const loaded = await ctx.step('load', () => 'loaded')
    try {
      const { approved } = await ctx.human.approve('Go?')
      return [loaded, approved]
    } finally {
      await ctx.shield((own) => own.step('clean up', () => 'cleaned'))
    }
  })

  test.each([
    ['at the question that the cancel withdrew', 1],
    ['behind all results', 3],
  ])('%s asks again, as if no cancel had come', async (_where, position) => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking, undefined, { id: 'r' })
    await engine.inbox.next()
    await run.cancel('stop', { by: 'user:root' })
    await run.result().catch(() => {})
    const preview = await engine.previewFork('r', { position })
    expect(preview.operations).toContainEqual(expect.objectContaining({ name: 'approve', does: 'ask' }))
    const fork = await engine.fork('r', { position }, { id: 'f' })
    const ask = await engine.inbox.next({ run: 'f' })
    expect(await engine.get(fork.id).status()).toMatchObject({ status: 'waiting', cancelReason: undefined })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await engine.get(asking, 'f').result()).toEqual(['loaded', true])
  })

  test('in its clean-up does that again, and is cancelled like its original', async () => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking, undefined, { id: 'r' })
    await engine.inbox.next()
    await run.cancel()
    await run.result().catch(() => {})
    const fork = await engine.fork('r', { position: 2 }, { id: 'f' })
    await engine
      .get(fork.id)
      .result()
      .catch(() => {})
    expect(await engine.get(fork.id).status()).toMatchObject({ status: 'cancelled' })
    const { execution_log } = await engine.log('f')
    expect(execution_log.filter(({ name }) => name === 'clean up')).toMatchObject([{ status: 'done' }])
  })
})
