import { type Checkpoint, type EngineOptions, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail, keepLines, refusalOf, silent } from './support.ts'

const analyse = procedure({ name: 'analyse' }, async (ctx) => {
  const data = await ctx.step('fetch', () => [1, 2, 3])
  const fetched = await ctx.checkpoint('fetched', { data, at: ctx.now() })
  const mean = await ctx.step('mean', () => 2)
  const analysed = await ctx.checkpoint('analysed')
  const { approved } = await ctx.human.approve('Publish {mean}?', { params: { mean }, key: 'publish' })
  return { fetched, analysed, approved }
})
const failing = procedure({ name: 'failing' }, async (ctx) => {
  await ctx.checkpoint('begun', 1)
  await ctx.step('work', () => fail(), { retry: false })
})

const begin = (
  retention: NonNullable<EngineOptions['retention']> = {},
  replay: 'on-crash' | 'always' = 'on-crash',
) => testEngine({ procedures: [analyse, failing], humans: silent, retention, replay })

async function waiting(engine: Awaited<ReturnType<typeof begin>>, id = 'r') {
  const run = await engine.run(analyse, undefined, { id })
  const ask = await engine.inbox.next({ run: id })
  return { run, ask }
}

describe('ctx.checkpoint', () => {
  test.each(['on-crash', 'always'] as const)(
    'gives an id, is in the log and in the list (%s)',
    async (replay) => {
      await using engine = await begin({}, replay)
      const { run, ask } = await waiting(engine)
      const listed = await engine.checkpoints.list('r')
      expect(listed).toEqual([
        {
          id: expect.any(String),
          run: 'r',
          position: 3,
          name: 'analysed',
          createdAt: expect.any(Date),
          state: undefined,
        },
        {
          ...{ id: expect.any(String), run: 'r', position: 1, name: 'fetched', createdAt: expect.any(Date) },
          state: { data: [1, 2, 3], at: new Date('2026-01-01T00:00:00Z') },
        },
      ])
      const ids = listed.map(({ id }) => id)
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
      const { execution_log } = await engine.log('r')
      expect(execution_log.filter(({ type }) => type === 'checkpoint')).toMatchObject([
        { position: 1, name: 'fetched', status: 'done', result: { id: ids[1], state: { data: [1, 2, 3] } } },
        { position: 3, name: 'analysed', status: 'done', result: { id: ids[0] } },
      ])
      await engine.crash()
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
      expect(await run.result()).toEqual({ fetched: ids[1], analysed: ids[0], approved: true })
      expect(engine.calls).toEqual({ fetch: 1, mean: 1 })
    },
  )

  test('a crash behind every commit leaves one row each', async () => {
    await using engine = await begin()
    await engine.crash('every')
    await waiting(engine)
    expect((await engine.checkpoints.list('r')).map(({ name }) => name)).toEqual(['analysed', 'fetched'])
  })

  test('the value is what it was at the call', async () => {
    const changing = procedure({ name: 'changing' }, async (ctx) => {
      const state = { step: 1 }
      const saved = ctx.checkpoint('one', state)
      state.step = 2
      await saved
      await ctx.sleep('1d')
    })
    await using engine = await testEngine({ procedures: [changing] })
    const run = await engine.run(changing)
    await engine.advance('1h')
    expect((await engine.checkpoints.latest(run.id))?.state).toEqual({ step: 1 })
  })

  test('a wrong name or value is refused and takes no position', async () => {
    const wrong = procedure({ name: 'wrong' }, async (ctx) => {
      for (const call of [
        () => ctx.checkpoint(''),
        () => ctx.checkpoint(7 as never),
        () => ctx.checkpoint('f', { f: () => 1 }),
        () => ctx.checkpoint('big', 'x'.repeat(3 * 2 ** 20)),
      ])
        try {
          await call()
          return 'accepted'
        } catch (error) {
          ctx.log.info((error as { code: string }).code)
        }
      return (await ctx.checkpoint('right')).length
    })
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [wrong], logger })
    const run = await engine.run(wrong)
    expect(await run.result()).toBe(16)
    expect(lines.map(({ message }) => message)).toEqual([
      ...['option-invalid', 'option-invalid', 'payload-refused', 'payload-refused'],
    ])
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ position: 0, name: 'right' }])
  })
})

describe('the checkpoints of a client', () => {
  test('are saved at the position behind the last result, and found by id or run', async () => {
    await using engine = await begin()
    await waiting(engine)
    const saved = await engine.checkpoints.create('r', { by: 'hand' }, { name: 'mine' })
    expect(saved).toMatchObject({ run: 'r', position: 4, name: 'mine', state: { by: 'hand' } })
    expect(saved.id).toMatch(/^[0-9a-f]{16}$/)
    expect(await engine.checkpoints.latest('r')).toEqual(saved)
    expect(await engine.checkpoints.load('r')).toEqual(saved)
    const [, analysed, fetched] = await engine.checkpoints.list('r')
    for (const one of [saved, analysed, fetched] as Checkpoint[])
      expect(await engine.checkpoints.load(one.id)).toEqual(one)
    expect(await engine.checkpoints.load('r/1')).toEqual(fetched)
    expect((await engine.checkpoints.create('r', undefined)).name).toBeUndefined()
  })

  test('there are none where there is nothing', async () => {
    await using engine = await begin()
    expect(await engine.checkpoints.latest('none')).toBeNull()
    expect(await engine.checkpoints.load('none')).toBeNull()
    expect(await engine.checkpoints.load('0123456789abcdef')).toBeNull()
    expect(await engine.checkpoints.list('none')).toEqual([])
    expect(await engine.checkpoints.listAll()).toEqual({ items: [], cursor: undefined })
    expect(await engine.checkpoints.delete('none')).toBe(0)
  })

  test('of all runs are listed in pages, by age', async () => {
    await using engine = await begin()
    await waiting(engine)
    await engine.advance('1d')
    await waiting(engine, 's')
    for (let k = 0; k < 55; k++) await engine.checkpoints.create('s', k)
    const first = await engine.checkpoints.listAll()
    const second = await engine.checkpoints.listAll({ cursor: first.cursor })
    const all = [...first.items, ...second.items]
    expect([first.items.length, all.length, second.cursor]).toEqual([50, 59, undefined])
    expect(all.slice(0, 55).map(({ state }) => state)).toEqual(Array.from({ length: 55 }, (_, k) => 54 - k))
    expect(all.slice(55).map(({ run, name }) => [run, name])).toEqual([
      ...[
        ['s', 'analysed'],
        ['s', 'fetched'],
        ['r', 'analysed'],
        ['r', 'fetched'],
      ],
    ])
    const old = await engine.checkpoints.listAll({ olderThan: '1h' })
    expect(old.items.map(({ run }) => run)).toEqual(['r', 'r'])
    expect(await refusalOf(engine.checkpoints.listAll({ cursor: 'x' }))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('are deleted one by one, or all of a run', async () => {
    await using engine = await begin()
    await waiting(engine)
    const [analysed, fetched] = await engine.checkpoints.list('r')
    expect(await engine.checkpoints.delete(analysed?.id ?? '')).toBe(1)
    expect(await engine.checkpoints.delete(analysed?.id ?? '')).toBe(0)
    expect(await engine.checkpoints.list('r')).toEqual([fetched])
    await engine.checkpoints.create('r', 2)
    expect(await engine.checkpoints.delete('r')).toBe(2)
    expect(await engine.checkpoints.list('r')).toEqual([])
  })

  test('cleanup deletes what matches all that is given', async () => {
    await using engine = await begin()
    const { run } = await waiting(engine)
    await (await engine.run(failing, undefined, { id: 'f' })).result().catch(() => {})
    await engine.advance('2d')
    for (let k = 0; k < 3; k++) await engine.checkpoints.create('r', k)
    const left = async () =>
      (await engine.checkpoints.listAll()).items.map(({ name, state }) => name ?? state)
    expect(await left()).toEqual([2, 1, 0, 'begun', 'analysed', 'fetched'])
    expect(await engine.checkpoints.cleanup({ olderThan: '1d', keep: 4 })).toBe(1)
    expect(await left()).toEqual([2, 1, 0, 'begun', 'analysed'])
    expect(await engine.checkpoints.cleanup({ onlyFinished: true, keep: 1 })).toBe(0)
    expect(await engine.checkpoints.cleanup({ onlyFinished: true })).toBe(1)
    expect(await engine.checkpoints.cleanup({ keep: 2 })).toBe(2)
    expect(await left()).toEqual([2, 1])
    expect(await engine.checkpoints.cleanup({ olderThan: '1h' })).toBe(0)
    for (const wrong of [
      {},
      undefined,
      { onlyFinished: false },
      { keep: -1 },
      { olderThan: 5 },
      { older: '1d' },
    ])
      expect((await refusalOf(engine.checkpoints.cleanup(wrong as never))).code).toMatch(/-invalid$/)
    await run.cancel()
  })

  test('a completed run has none, a failed one keeps them', async () => {
    await using engine = await begin()
    const { run, ask } = await waiting(engine)
    const saved = await engine.checkpoints.create('r', 1)
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await run.result()
    await (await engine.run(failing, undefined, { id: 'f' })).result().catch(() => {})
    expect(await engine.checkpoints.list('r')).toEqual([])
    expect(await engine.checkpoints.load(saved.id)).toBeNull()
    expect((await engine.checkpoints.listAll()).items.map(({ run }) => run)).toEqual(['f'])
    expect(await engine.checkpoints.delete('r')).toBe(0)
    expect(await refusalOf(engine.checkpoints.create('r', 2))).toMatchObject({ code: 'run-ended' })
    expect(await refusalOf(engine.checkpoints.create('f', 2))).toMatchObject({ code: 'run-ended' })
    expect(await refusalOf(engine.checkpoints.create('none', 2))).toMatchObject({ code: 'run-not-found' })
  })

  test('retention deletes them by age, and those of completed runs', async () => {
    const store = memory()
    await using engine = await testEngine({
      ...{ procedures: [analyse, failing], humans: silent, store },
      retention: { failing: { checkpoints: '10d' } },
    })
    const { run, ask } = await waiting(engine)
    await (await engine.run(failing, undefined, { id: 'f' })).result().catch(() => {})
    await engine.advance('9d')
    expect((await engine.checkpoints.listAll()).items.map(({ run }) => run)).toEqual(['f', 'r', 'r'])
    await engine.advance('2d')
    expect((await engine.checkpoints.listAll()).items.map(({ run }) => run)).toEqual(['r', 'r'])
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await run.result()
    await engine.advance('5m')
    await engine.delete('f')
    expect(await engine.checkpoints.listAll()).toEqual({ items: [], cursor: undefined })
  })

  test('one that is not required warns when it cannot be saved, and the work continues', async () => {
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [analyse], humans: silent, logger })
    await waiting(engine)
    const optional = { required: false }
    expect(await engine.checkpoints.create('r', 1, optional)).toMatchObject({ state: 1 })
    expect(lines).toEqual([])
    expect(await engine.checkpoints.create('none', 1, optional)).toBeNull()
    expect(await engine.checkpoints.create('r', () => 1, optional)).toBeNull()
    expect(lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('The checkpoint of run none was not saved') },
      { level: 'warn', fields: { error: { code: 'payload-refused' } } },
    ])
    for (const wrong of [{ required: 'no' }, { name: '' }, { need: true }])
      expect(await refusalOf(engine.checkpoints.create('r', 1, wrong as never))).toMatchObject({
        code: 'option-invalid',
      })
  })
})

test('a retry keeps those of the past that it keeps, and a fork from them has that past', async () => {
  let isDown = true
  const fragile = procedure({ name: 'fragile' }, async (ctx) => {
    await ctx.checkpoint('begun', 1)
    await ctx.human.approve('Go on?', { key: 'go' })
    await ctx.step('work', () => (isDown ? fail() : 'done'), { retry: false })
    await ctx.checkpoint('worked')
    await ctx.human.approve('Publish?', { key: 'publish' })
  })
  await using engine = await testEngine({ procedures: [fragile], humans: silent })
  const run = await engine.run(fragile, undefined, { id: 'r' })
  const ask = await engine.inbox.next({ run: 'r' })
  const mine = await engine.checkpoints.create('r', 'by hand')
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await run.result().catch(() => {})
  const before = await engine.checkpoints.list('r')
  expect(before.map(({ state }) => state)).toEqual(['by hand', 1])
  isDown = false
  await engine.retry('r')
  await engine.inbox.next({ run: 'r' })
  const [worked, ...others] = await engine.checkpoints.list('r')
  expect(worked?.name).toBe('worked')
  expect(others).toEqual(before)
  await engine.fork('r', { checkpoint: mine.id }, { id: 'f' })
  expect((await engine.inbox.next({ run: 'f' })).key).toBe('go')
})

describe('a fork from a checkpoint', () => {
  test('of ctx.checkpoint has what was recorded by then, and checkpoints of its own', async () => {
    await using engine = await begin()
    const { run, ask } = await waiting(engine)
    const [analysed, fetched] = await engine.checkpoints.list('r')
    const fork = await engine.fork('r', { checkpoint: fetched?.id ?? '' }, { id: 'f' })
    await engine.inbox.next({ run: 'f' })
    expect(engine.calls).toEqual({ fetch: 1, mean: 2 })
    expect(
      (await engine.checkpoints.list('f')).map(({ run, position, name }) => [run, position, name]),
    ).toEqual([
      ['f', 3, 'analysed'],
      ['f', 1, 'fetched'],
    ])
    expect(await fork.status()).toMatchObject({ forkedFrom: { run: 'r', position: 1 } })
    const later = await engine.fork('r', { checkpoint: analysed?.id ?? '' }, { id: 'g' })
    await engine.inbox.next({ run: 'g' })
    expect(engine.calls).toEqual({ fetch: 1, mean: 2 })
    expect((await engine.checkpoints.list('g')).map(({ name, state }) => [name, state])).toEqual([
      ['analysed', undefined],
      ['fetched', fetched?.state],
    ])
    expect((await engine.checkpoints.list('r')).length).toBe(2)
    for (const one of [run, fork, later]) await one.cancel()
    expect(ask.status).toBe('open')
  })

  test('made by a caller goes back there: what was asked then is asked again', async () => {
    await using engine = await begin()
    const { run, ask } = await waiting(engine)
    const saved = await engine.checkpoints.create('r', 'before the answer')
    await engine.inbox.answer(ask.id, { approved: false }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({ approved: false })
    // A completed run has no checkpoints any more, but its positions stay.
    expect((await refusalOf(engine.fork('r', { checkpoint: saved.id }))).code).toBe('option-invalid')
    const fork = await engine.fork('r', { checkpoint: ask.id })
    const again = await engine.inbox.next({ run: fork.id })
    await engine.inbox.answer(again.id, { approved: true }, { as: 'user:ana' })
    expect(await fork.result()).toMatchObject({ approved: true })
    expect(engine.calls).toEqual({ fetch: 1, mean: 1 })
  })

  test('keeps the effect at work, and waits again for what had not come', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const work = procedure({ name: 'work', signals: { stop: z.string() } }, async (ctx) => {
      const stop = ctx.receive('stop')
      await ctx.step('a', () => 1)
      await ctx.step('b', () => held)
      const won = await Promise.race([
        stop,
        ctx
          .step('c', () => 'worked', { retry: false })
          .then(() => ctx.sleep('9d'))
          .then(() => 'late'),
      ])
      await ctx.sleep('1d')
      return won
    })
    await using engine = await testEngine({ procedures: [work, failing] })
    const run = await engine.run(work, undefined, { id: 'r' })
    while (engine.calls['b'] !== 1) await new Promise((resolve) => setImmediate(resolve))
    const saved = await engine.checkpoints.create('r', 'b is at work')
    expect(saved.position).toBe(2)
    release()
    await engine.advance('1h')
    await engine.get(work, 'r').signal('stop', 'enough')
    await engine.advance('1h')
    // The log has the signal by now; the fork leaves it out.
    expect((await engine.log('r')).execution_log).toContainEqual(
      expect.objectContaining({ name: 'stop', status: 'done' }),
    )
    const fork = await engine.fork('r', { checkpoint: saved.id })
    expect(await run.result()).toBe('enough')
    expect(await fork.result()).toBe('late')
    // `b` had begun by then; `c` had not.
    expect(engine.calls).toEqual({ a: 1, b: 1, c: 2 })
  })

  test('is refused for what is no checkpoint of the run', async () => {
    await using engine = await begin()
    const { run } = await waiting(engine)
    const other = await waiting(engine, 'other')
    const [mine] = await engine.checkpoints.list('r')
    for (const [id, from] of [
      ['other', { checkpoint: mine?.id }],
      ['r', { checkpoint: other.ask.id }],
      ['r', { checkpoint: 'ffffffffffffffff' }],
      ['r', { checkpoint: '' }],
      ['r', { checkpoint: mine?.id, position: 1 }],
      ['r', {}],
    ] as const)
      expect(await refusalOf(engine.fork(id, from as never))).toMatchObject({ code: 'option-invalid' })
    for (const one of [run, other.run]) await one.cancel()
  })

  test('of an earlier generation is refused, and its value is still there', async () => {
    const forever = procedure({ name: 'forever', input: z.number() }, async (ctx, round) => {
      await ctx.checkpoint(`round ${round}`, round)
      await ctx.sleep('1d')
      return ctx.continueAs(round + 1)
    })
    await using engine = await testEngine({ procedures: [forever] })
    const run = await engine.run(forever, 1)
    const saved = (await engine.advance('1h'), await engine.checkpoints.create(run.id, 'by hand'))
    await engine.advance('1d')
    expect((await engine.checkpoints.list(run.id)).map(({ state }) => state)).toEqual([2, 'by hand', 1])
    for (const id of [saved.id, (await engine.checkpoints.list(run.id))[2]?.id ?? ''])
      expect(await refusalOf(engine.fork(run.id, { checkpoint: id }))).toMatchObject({
        code: 'option-invalid',
      })
    const fork = await engine.fork(run.id, {
      checkpoint: (await engine.checkpoints.latest(run.id))?.id ?? '',
    })
    await engine.advance('1h')
    expect((await engine.checkpoints.list(fork.id)).map(({ state }) => state)).toEqual([2])
    for (const one of [run, fork]) await one.cancel()
  })

  test('an ended run that begins again has none', async () => {
    await using engine = await begin()
    await (await engine.run(failing, undefined, { id: 'f' })).result().catch(() => {})
    expect(await engine.checkpoints.list('f')).toHaveLength(1)
    const again = await engine.runOrGet(failing, undefined, { id: 'f', ifEnded: 'again' })
    await again.result().catch(() => {})
    expect(await engine.checkpoints.list('f')).toHaveLength(1)
  })

  test('a question is a checkpoint, too: load finds it by its id', async () => {
    await using engine = await begin()
    const { ask } = await waiting(engine)
    expect(await engine.checkpoints.load(ask.id)).toEqual({
      id: ask.id,
      run: 'r',
      position: ask.position,
      name: ask.key,
      createdAt: ask.askedAt,
      state: undefined,
    })
    expect((await engine.checkpoints.latest('r'))?.id).not.toBe(ask.id)
  })

  test('resume refuses a saved checkpoint, at which nobody is asked, and names fork', async () => {
    await using engine = await begin()
    const { run, ask } = await waiting(engine)
    const [analysed] = await engine.checkpoints.list('r')
    const resolution = { decision: 'approve' }
    expect(
      await refusalOf(engine.resume({ checkpoint: analysed?.id ?? '', resolution }, { as: 'user:ana' })),
    ).toMatchObject({
      code: 'ask-not-found',
      message: expect.stringMatching(/of run r asks nothing: .* use `client\.fork`/),
    })
    await engine.resume({ checkpoint: ask.id, resolution }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({ approved: true })
  })
})
