import { createEngine, type Engine, type Procedure, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const label = procedure({ name: 'label', signals: { go: z.string() } }, (ctx) => ctx.receive('go'))
const ship = procedure({ name: 'ship', signals: { go: z.string() } }, async (ctx) => {
  const printed = await ctx.spawn(label, undefined, { id: 'label' })
  const by = await ctx.receive('go')
  await printed.signal('go', by)
  return `${by}, ${await printed.result()}`
})

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

async function begin(...procedures: readonly AnyProcedure[]): Promise<Engine> {
  const engine = await createEngine({
    store: memory(),
    procedures: [...procedures, ship, label],
    logger: quiet,
  })
  onTestFinished(() => engine.stop())
  return engine
}
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function answer(engine: Engine, run: string, approved: boolean): Promise<void> {
  const ask = await engine.inbox.next({ run })
  await engine.inbox.answer(ask.id, { approved }, { as: 'user:ana' })
}

describe('a fork behind whose cut its original has created a child under a given id', () => {
  const withHandle = procedure({ name: 'order' }, async (ctx) => {
    await ctx.human.approve('Start?')
    const parcel = await ctx.spawn(ship, undefined, { id: 'parcel' })
    const { approved } = await ctx.human.approve('Ship?')
    if (!approved) await parcel.cancel('no')
    else await parcel.signal('go', 'rail', { id: 'once' })
    return parcel.result()
  })
  const withId = procedure({ name: 'order' }, async (ctx) => {
    await ctx.human.approve('Start?')
    await ctx.spawn(ship, undefined, { id: 'parcel' })
    const { approved } = await ctx.human.approve('Ship?')
    const parcel = ctx.get(ship, 'parcel')
    if (!approved) await parcel.cancel('no')
    else await parcel.signal('go', 'rail', { id: 'once' })
    return parcel.result()
  })

  test.each([
    ['handle', withHandle],
    ['id', withId],
  ])('creates, signals and cancels a child of its own, by its %s', async (_, order) => {
    const engine = await begin(order)
    const original = await engine.run(order, undefined, { id: 'order' })
    await answer(engine, 'order', true)
    await engine.inbox.next({ run: 'order' })
    expect((await engine.previewFork('order', { position: 0 })).children).toEqual(['parcel'])
    const [cancels, sends] = [
      await engine.fork('order', { position: 0 }, { id: 'cancels' }),
      await engine.fork('order', { position: 0 }, { id: 'sends' }),
    ]
    for (const fork of ['cancels', 'sends']) await answer(engine, fork, true)
    await answer(engine, 'cancels', false)
    expect(await refusalOf(cancels.result())).toMatchObject({
      details: { cause: { code: 'run-cancelled' } },
    })
    await answer(engine, 'sends', true)
    expect(await sends.result()).toBe('rail, rail')
    expect((await engine.get('parcel').status()).status).toBe('waiting')
    await answer(engine, 'order', true)
    expect(await original.result()).toBe('rail, rail')
    const ids = (await engine.list()).items.map(({ id }) => id).sort()
    expect(ids).toEqual(
      ['', '~cancels', '~sends']
        .flatMap((own) => [`label${own}`, `parcel${own}`])
        .concat('order', 'cancels', 'sends')
        .sort(),
    )
  })
})

test('a fork of a fork, after a crash of its worker, has children of its own', async () => {
  const order = procedure({ name: 'order' }, async (ctx) => {
    await ctx.human.approve('Start?')
    const by = await ctx.call(ship, undefined, { id: 'parcel' })
    return by
  })
  const store = memory()
  const open = () => createEngine({ store, procedures: [order, ship, label], logger: quiet })
  let engine = await open()
  await engine.run(order, undefined, { id: 'order' })
  await engine.inbox.next({ run: 'order' })
  await engine.fork('order', { position: 0 }, { id: 'one' })
  await engine.fork('one', { position: 0 }, { id: 'two' })
  for (const run of ['order', 'one', 'two']) await answer(engine, run, true)
  await engine.stop()
  engine = await open()
  onTestFinished(() => engine.stop())
  for (const own of ['', '~one', '~two'])
    await vi.waitFor(() => engine.get(ship, `parcel${own}`).signal('go', own), { timeout: 60_000 })
  for (const [run, own] of [
    ['order', ''],
    ['one', '~one'],
    ['two', '~two'],
  ] as const)
    expect(await engine.get(order, run).result()).toBe(`${own}, ${own}`)
})

test('a fork reads the result of a child that it shares with its original, and neither signals nor cancels it', async () => {
  const order = procedure({ name: 'order' }, async (ctx) => {
    const parcel = await ctx.spawn(ship, undefined, { id: 'parcel' })
    const { approved } = await ctx.human.approve('Ship?')
    const codeOf = (error: unknown) => (error as { readonly code: string }).code
    if (approved) await parcel.signal('go', 'rail')
    else
      return [
        await parcel.signal('go', 'road').catch(codeOf),
        await parcel.cancel().catch(codeOf),
        await ctx.get(label, 'label').signal('go', 'road').catch(codeOf),
        await parcel.result(),
      ]
    return [await parcel.result()]
  })
  const engine = await begin(order)
  const original = await engine.run(order, undefined, { id: 'order' })
  await engine.inbox.next({ run: 'order' })
  await engine.inbox.next({ run: 'order' })
  const fork = await engine.fork('order', { position: 1 }, { id: 'fork' })
  await answer(engine, 'fork', false)
  await answer(engine, 'order', true)
  expect(await original.result()).toEqual(['rail, rail'])
  expect(await fork.result()).toEqual(['run-shared', 'run-shared', 'run-shared', 'rail, rail'])
})

test('a signal that a fork sends with the id of one of its original arrives, and is sent once', async () => {
  const till = procedure({ name: 'till', signals: { paid: z.string(), close: z.void() } }, async (ctx) => {
    const paid: string[] = []
    for (;;) {
      const next = await ctx.receiveAny(['paid', 'close'])
      if (next.name === 'close') return paid
      paid.push(next.payload)
    }
  })
  const order = procedure({ name: 'order' }, async (ctx) => {
    const { comment = '' } = await ctx.human.approve('Pay?')
    for (let i = 0; i < 2; i++) await ctx.get(till, 'till').signal('paid', comment, { id: 'payment' })
  })
  const engine = await begin(order, till)
  const opened = await engine.run(till, undefined, { id: 'till' })
  await engine.run(order, undefined, { id: 'order' })
  const pay = async (run: string, comment: string): Promise<void> => {
    const ask = await engine.inbox.next({ run })
    await engine.inbox.answer(ask.id, { approved: true, comment }, { as: 'user:ana' })
    await engine.get(order, run).result()
  }
  await pay('order', 'one')
  await engine.fork('order', { position: 0 }, { id: 'fork' })
  await pay('fork', 'two')
  await opened.signal('close')
  expect(await opened.result()).toEqual(['one', 'two'])
})

describe('a run of the family of a fork that is begun again', () => {
  const errand = procedure(
    { name: 'errand', input: z.object({ round: z.number() }) },
    async (ctx, { round }) => {
      const { approved } = await ctx.human.approve('Go?')
      if (!approved) return 'not now'
      if (round === 2) return ctx.continueAs({ round: 3 })
      const parcel = await ctx.spawn(ship, undefined, { id: 'parcel' })
      await parcel.signal('go', `round ${round}`, { id: 'once' })
      return parcel.result()
    },
  )

  test('has children of its own, also behind continueAs', async () => {
    const engine = await begin(errand)
    const original = await engine.run(errand, { round: 1 }, { id: 'order' })
    await engine.inbox.next({ run: 'order' })
    const fork = await engine.fork('order', { position: 0 }, { id: 'fork' })
    await answer(engine, 'fork', false)
    expect(await fork.result()).toBe('not now')
    const again = await engine.runOrGet(errand, { round: 2 }, { id: 'fork', ifEnded: 'again' })
    for (let generation = 2; generation <= 3; generation++) {
      await vi.waitFor(async () => expect((await again.status()).generation).toBe(generation), {
        timeout: 60_000,
      })
      await answer(engine, 'fork', true)
    }
    expect(await again.result()).toBe('round 3, round 3')
    await answer(engine, 'order', true)
    expect(await original.result()).toBe('round 1, round 1')
    expect((await engine.list({ parent: 'fork' })).items.map(({ id }) => id)).toEqual(['parcel~fork'])
  })

  test('is a child of the fork: it does not take over the child of the child of the original', async () => {
    const order = procedure({ name: 'order' }, async (ctx) => {
      await ctx.human.approve('Start?')
      const { id } = await ctx.spawn(errand, { round: 1 }, { id: 'errand', onParentEnd: 'detach' })
      return id
    })
    const engine = await begin(order, errand)
    await engine.run(order, undefined, { id: 'order' })
    await engine.inbox.next({ run: 'order' })
    await engine.fork('order', { position: 0 }, { id: 'fork' })
    for (const run of ['order', 'fork']) await answer(engine, run, true)
    await answer(engine, 'errand~fork', false)
    expect(await engine.get(errand, 'errand~fork').result()).toBe('not now')
    const again = await engine.runOrGet(errand, { round: 4 }, { id: 'errand~fork', ifEnded: 'again' })
    await answer(engine, 'errand~fork', true)
    expect(await again.result()).toBe('round 4, round 4')
    await answer(engine, 'errand', true)
    expect(await engine.get(errand, 'errand').result()).toBe('round 1, round 1')
  })
})
