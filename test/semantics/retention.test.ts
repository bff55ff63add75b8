import { type EngineOptions, FinalError, PawlError, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const quick = procedure({ name: 'quick' }, async () => 'done')
const failing = procedure({ name: 'failing' }, async () => {
  throw new PawlError('cancelled', { reason: undefined })
})
const patient = procedure({ name: 'patient' }, (ctx) => ctx.sleep('365d'))
const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Go?', { to: 'user:ana' }))

const procedures = [quick, failing, patient, asking]
const begin = (retention: NonNullable<EngineOptions['retention']> = {}) =>
  testEngine({ procedures, retention })

describe('delete', () => {
  test('an ended run is gone, and its id is free for a new run', async () => {
    await using engine = await begin()
    for (const round of [1, 2]) {
      const run = await engine.run(quick, undefined, { id: 'a', tags: [`round ${round}`] })
      expect(await run.result()).toBe('done')
      expect((await engine.list()).items.map(({ tags }) => tags)).toEqual([[`round ${round}`]])
      await engine.delete('a')
      expect((await engine.list()).items).toEqual([])
      await expect(run.status()).rejects.toMatchObject({ code: 'run-not-found' })
    }
    await expect(engine.delete('a')).rejects.toMatchObject({ code: 'run-not-found' })
  })

  test('a live run is refused and goes on', async () => {
    await using engine = await begin()
    const run = await engine.run(patient, undefined, { id: 'a' })
    await expect(engine.delete('a')).rejects.toMatchObject({ code: 'run-live', details: { run: 'a' } })
    await engine.advance('365d')
    await run.result()
  })

  test('decisions are listed after their run was deleted, page by page', async () => {
    await using engine = await begin()
    for (const id of ['a', 'b', 'c']) {
      const run = await engine.run(asking, undefined, { id })
      const ask = await engine.inbox.next({ run: id })
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
      await run.result()
    }
    const before = (await engine.inbox.list({ status: 'answered', run: 'c' })).items
    for (const id of ['a', 'b', 'c']) await engine.delete(id)
    expect((await engine.inbox.list({ status: 'answered' })).items).toEqual([])
    const first = await engine.inbox.list({ archived: true, limit: 2 })
    expect(first.items.map(({ run }) => run)).toEqual(['c', 'b'])
    expect(first.items[0]).toEqual(before[0])
    const rest = await engine.inbox.list({ archived: true, limit: 2, cursor: first.cursor })
    expect([rest.items.map(({ run }) => run), rest.cursor]).toEqual([['a'], undefined])
    await expect(engine.inbox.list({ archived: true, status: 'open' })).rejects.toMatchObject({
      code: 'option-invalid',
    })
  })
})

describe('retention', () => {
  test('deletes runs by status and age, and keeps the others', async () => {
    await using engine = await begin({ quick: { completed: '10d' }, '*': { failed: '20d' } })
    await (await engine.run(quick, undefined, { id: 'quick' })).result()
    await (await engine.run(failing, undefined, { id: 'failing' })).result().catch(() => {})
    await engine.run(patient, undefined, { id: 'patient' })
    expect(await idsAfter(engine, '9d')).toEqual(['patient', 'failing', 'quick'])
    expect(await idsAfter(engine, '2d')).toEqual(['patient', 'failing'])
    expect(await idsAfter(engine, '8d')).toEqual(['patient', 'failing'])
    expect(await idsAfter(engine, '2d')).toEqual(['patient'])
  })

  test('keeps at most a number of ended runs, the newest', async () => {
    await using engine = await begin({ quick: { keep: 2 } })
    await engine.run(patient, undefined, { id: 'patient' })
    for (const id of ['1', '2', '3', '4']) await (await engine.run(quick, undefined, { id })).result()
    expect(await idsAfter(engine, '5m')).toEqual(['4', '3', 'patient'])
  })

  test('without a rule, runs are kept for ever, but those of Pawl itself for 30 days', async () => {
    const own = procedure({ name: 'pawl.own' }, async () => 'done')
    await using engine = await testEngine({
      procedures: [quick],
      plugins: [{ name: 'own', procedures: [own] }],
    })
    await (await engine.run(quick, undefined, { id: 'quick' })).result()
    await (await engine.run(own, undefined, { id: 'own' })).result()
    expect(await idsAfter(engine, '29d')).toEqual(['own', 'quick'])
    expect(await idsAfter(engine, '2d')).toEqual(['quick'])
  })

  test('decisions are kept as long as their rule says', async () => {
    await using engine = await begin({ asking: { completed: '1d', decisions: '10d' } })
    const run = await engine.run(asking, undefined, { id: 'a' })
    const ask = await engine.inbox.next({ run: 'a' })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await run.result()
    expect(await idsAfter(engine, '2d')).toEqual([])
    expect((await engine.inbox.list({ archived: true })).items).toHaveLength(1)
    await engine.advance('9d')
    expect((await engine.inbox.list({ archived: true })).items).toEqual([])
  })

  test.each([
    { quick: { completed: '10' } },
    { quick: { keep: -1 } },
    { quick: { ended: '1d' } },
    { '': {} },
    { quick: 3 },
  ])('refuses %j', async (retention) => {
    await expect(begin(retention as never)).rejects.toThrow(PawlError)
  })
})

async function idsAfter(engine: Awaited<ReturnType<typeof begin>>, time: `${number}${'d' | 'm'}`) {
  await engine.advance(time)
  return (await engine.list()).items.map(({ id }) => id)
}

describe('children of live parents', () => {
  const pack = procedure({ name: 'pack' }, (ctx) => ctx.step('pack', () => 'box 7'))
  const fragile = procedure({ name: 'fragile' }, async () => {
    throw new FinalError('broken')
  })
  const rules = { pack: { completed: '1h', keep: 0 }, fragile: { failed: '1h' } } as const

  test('an ended child is kept while its live parent may ask for its result', async () => {
    const order = procedure({ name: 'order' }, async (ctx) => {
      const [box, vase] = [await ctx.spawn(pack), await ctx.spawn(fragile)]
      await ctx.sleep('3d')
      const code = await vase.result().catch((error: unknown) => PawlError.is(error) && error.code)
      return [await box.result(), code]
    })
    await using engine = await testEngine({ procedures: [order, pack, fragile], retention: rules })
    const run = await engine.run(order, undefined, { id: 'order' })
    expect(await run.result({ timeout: '9d' })).toEqual(['box 7', 'run-failed'])
    await engine.advance('2h')
    expect((await engine.list()).items.map(({ id }) => id)).toEqual(['order'])
  })

  test('a called child, a detached one and one of an earlier generation are not kept for a live parent', async () => {
    const order = procedure({ name: 'order', input: z.boolean() }, async (ctx, isLast): Promise<void> => {
      if (isLast) return ctx.sleep('9d')
      await ctx.call(pack, undefined, { id: 'called' })
      await ctx.spawn(pack, undefined, { id: 'detached', onParentEnd: 'detach' })
      await ctx.spawn(pack, undefined, { id: 'before' })
      await ctx.sleep('10m')
      return ctx.continueAs(true)
    })
    await using engine = await testEngine({ procedures: [order, pack], retention: rules })
    await engine.run(order, false, { id: 'order' })
    await engine.advance('3h')
    expect((await engine.list()).items.map(({ id }) => id)).toEqual(['order'])
  })

  test('delete refuses a child whose live parent may ask for its result, and names the parent', async () => {
    const order = procedure({ name: 'order' }, async (ctx) => {
      const box = await ctx.spawn(pack, undefined, { id: 'box' })
      await ctx.sleep('3d')
      return box.result()
    })
    await using engine = await testEngine({ procedures: [order, pack] })
    const run = await engine.run(order, undefined, { id: 'order' })
    await engine.advance('1h')
    await expect(engine.delete('box')).rejects.toMatchObject({
      code: 'run-live',
      details: { run: 'box', status: 'completed', parent: 'order' },
    })
    await engine.advance('3d')
    expect(await run.result()).toBe('box 7')
    await engine.delete('box')
  })
})
