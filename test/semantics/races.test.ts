import { procedure, ref } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { silent } from './support.ts'

const signals = { a: z.string(), b: z.string(), go: z.void() }

describe.each(['on-crash', 'always'] as const)('a race, replayed %s', (replay) => {
  test('leaves a signal that the loser had taken in the same commit to the next receive', async () => {
    const picky = procedure({ name: 'picky', signals }, async (ctx) => {
      await ctx.sleep('1h')
      const first = await ctx.race({ a: ctx.receive('a'), b: (ctx) => ctx.receive('b') })
      return [first.winner, await ctx.receive(first.winner === 'a' ? 'b' : 'a')]
    })
    await using engine = await testEngine({ procedures: [picky], replay })
    const run = await engine.run(picky)
    await run.signal('b', 'of b')
    await run.signal('a', 'of a')
    expect(await run.result()).toEqual(['b', 'of a'])
  })

  test('a race won by a timeout withdraws the question beside it in the same commit', async () => {
    const asking = procedure({ name: 'asking', signals }, async (ctx) => {
      const first = await ctx.race({
        answered: ctx.human.approve('Refund?', { to: 'role:finance', key: 'refund' }),
        late: async (ctx) => {
          await ctx.sleep('3d')
          return ctx.step('remind', () => 'reminded')
        },
      })
      await ctx.receive('go')
      return first.winner
    })
    await using engine = await testEngine({ procedures: [asking], replay, humans: silent })
    const run = await engine.run(asking)
    await engine.advance('1h')
    const open = await engine.inbox.list()
    expect(open.items).toHaveLength(1)
    await engine.advance('3d')
    expect((await engine.inbox.list()).items).toEqual([])
    const ask = open.items[0]
    if (ask === undefined) throw new Error('it was open')
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'withdrawn' })
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [{ kind: 'signal', name: 'go' }],
    })
    await run.signal('go')
    expect(await run.result()).toBe('late')
    expect((await engine.log(run.id)).execution_log[0]).toMatchObject({ status: 'withdrawn' })
  })

  test('a race won by an answer drops the timer beside it, and finally blocks of the loser run', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const first = await ctx.race({
        answered: ctx.human.approve('Refund?', { to: 'role:finance' }),
        late: async (ctx) => {
          try {
            await ctx.sleep('3d')
          } finally {
            await ctx.shield((ctx) => ctx.step('tidy', () => 'tidied'))
          }
        },
      })
      return first.winner === 'answered' && first.value.approved
    })
    const humans = [{ ask: /./, answer: { approved: true }, after: '1h' as const }]
    await using engine = await testEngine({ procedures: [asking], replay, humans })
    const run = await engine.run(asking)
    expect(await run.result()).toBe(true)
    expect((await engine.log(run.id)).execution_log.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'approve done',
      'tidy done',
    ])
  })

  test('a race records the answer of a loser that came before its withdrawal', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const first = await ctx.race({
        one: ctx.human.approve('One?', { to: 'role:ops' }),
        other: (ctx) => ctx.human.approve('Other?', { to: 'role:ops', key: 'other' }),
      })
      await ctx.sleep('1h')
      return first.winner
    })
    await using engine = await testEngine({ procedures: [asking], replay, humans: silent })
    const run = await engine.run(asking)
    await engine.advance('1m')
    const { items } = await engine.inbox.list()
    await Promise.all(items.map(({ id }) => engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })))
    await engine.advance('1m')
    const asks = await Promise.all(items.map(({ id }) => engine.inbox.get(id)))
    expect(asks.map((ask) => ask?.status)).toEqual(['answered', 'answered'])
    expect(['one', 'other']).toContain(await run.result())
    expect((await engine.log(run.id)).execution_log.map(({ status }) => status)).toEqual([
      'done',
      'done',
      'done',
    ])
  })

  test('a race aborts a running step that loses, and records no result of it', async () => {
    const reasons: unknown[] = []
    const working = procedure({ name: 'working', signals }, async (ctx) => {
      const first = await ctx.race({
        work: ctx.step(
          'work',
          ({ signal }) =>
            new Promise<string>((resolve) =>
              signal.addEventListener('abort', () => {
                reasons.push(signal.aborted)
                resolve('too late')
              }),
            ),
        ),
        a: ctx.receive('a'),
      })
      await ctx.step('next', () => 'next')
      return first
    })
    await using engine = await testEngine({ procedures: [working], replay })
    const run = await engine.run(working)
    await run.signal('a', 'quick')
    expect(await run.result()).toEqual({ winner: 'a', value: 'quick' })
    expect(reasons).toEqual([true])
    expect((await engine.log(run.id)).execution_log.map(({ name }) => name)).toEqual(['a', 'next'])
  })

  test('a race withdraws a step between two attempts', async () => {
    const trying = procedure({ name: 'trying', signals }, async (ctx) => {
      const first = await ctx.race({
        work: ctx.step('work', () => Promise.reject(new Error('no luck')), {
          retry: { attempts: 9, backoff: '1d' },
        }),
        soon: ctx.sleep('1h'),
      })
      await ctx.step('next', () => 'next')
      return first.winner
    })
    await using engine = await testEngine({ procedures: [trying], replay })
    const run = await engine.run(trying)
    expect(await run.result()).toBe('soon')
    expect((await engine.log(run.id)).execution_log).toMatchObject([
      { name: 'work', status: 'withdrawn' },
      { name: 'sleep', status: 'done' },
      { name: 'next', status: 'done' },
    ])
  })
})

describe('a map', () => {
  const pages = procedure(
    { name: 'pages', input: z.object({ fails: z.boolean() }) },
    async (ctx, { fails }) => {
      let most = 0
      let atWork = 0
      const fetched = await ctx.map(
        Array.from({ length: 20 }, (_, i) => i),
        (page, ctx) =>
          ctx.step(
            `fetch ${page}`,
            async () => {
              most = Math.max(most, ++atWork)
              await new Promise((resolve) => setImmediate(resolve))
              atWork--
              if (fails && page === 7) throw new Error('no page')
              return page
            },
            { retry: false },
          ),
        { concurrency: 4 },
      )
      return { fetched, most }
    },
  )

  test('a map runs the given number of steps at once, and returns results in order', async () => {
    await using engine = await testEngine({ procedures: [pages] })
    const { fetched, most } = await (await engine.run(pages, { fails: false })).result()
    expect(fetched).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(most).toBe(4)
  })

  test('a map fails with the error of the first item that fails', async () => {
    await using engine = await testEngine({ procedures: [pages] })
    const run = await engine.run(pages, { fails: true })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    const names = (await engine.log(run.id)).execution_log.map(({ name }) => name)
    expect(names).not.toContain('fetch 12')
  })

  test('a map that stops withdraws the questions of its other items', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const all = ctx.map(['a', 'b', 'c'], async (name, ctx) => {
        const { approved } = await ctx.human.approve(`May ${name}?`, { to: 'role:ops', key: name })
        if (!approved) throw new Error(`${name} may not`)
        return name
      })
      const failure: unknown = await all.catch((error: unknown) => error)
      await ctx.sleep('1h')
      return String(failure)
    })
    const humans = [
      { ask: 'May b?', answer: { approved: false } },
      { ask: /./, answer: 'silence' as const },
    ]
    await using engine = await testEngine({ procedures: [asking], humans })
    const run = await engine.run(asking)
    await engine.advance('1m')
    expect((await engine.inbox.list()).items).toEqual([])
    expect(await run.result()).toBe('Error: b may not')
  })
})

describe.each(['on-crash', 'always'] as const)('receives of one signal, replayed %s', (replay) => {
  test('get their signals in order if a race with one of them is lost in the same commit', async () => {
    const pair = procedure({ name: 'pair', signals }, async (ctx) => {
      await ctx.sleep('1h')
      const race = ctx.race({ b: ctx.receive('b'), a: (ctx) => ctx.receive('a') })
      const beside = ctx.receiveAny(['a', 'go'])
      const { winner } = await race
      return [winner, await beside, await ctx.receive('a'), await ctx.receiveAny(['a', 'go'])]
    })
    await using engine = await testEngine({ procedures: [pair], replay })
    const run = await engine.run(pair)
    await run.signal('b', 'of b')
    await run.signal('a', 'first')
    await run.signal('go')
    await run.signal('a', 'second')
    const [first, go] = [
      { name: 'a', payload: 'first' },
      { name: 'go', payload: true },
    ]
    expect(await run.result()).toEqual(['b', first, 'second', go])
  })

  test('get their signals in order if the check of one outlasts its race', async () => {
    let checks = 0
    // The first check never ends.
    const slow = z
      .string()
      .refine((text) => text !== 'first' || ++checks > 1 || new Promise<boolean>(() => {}))
    const pair = procedure({ name: 'pair', signals: { ...signals, a: slow } }, async (ctx) => {
      await ctx.sleep('1h')
      const race = ctx.race({ b: ctx.receive('b'), a: (ctx) => ctx.receive('a') })
      const beside = ctx.receive('a')
      const { winner } = await race
      return [winner, await beside, await ctx.receive('a')]
    })
    await using engine = await testEngine({ procedures: [pair], replay })
    const run = await engine.run(pair)
    const untyped = engine.get(ref<typeof pair>('pair'), run.id)
    await untyped.signal('a', 'first')
    await untyped.signal('a', 'second')
    await untyped.signal('b', 'of b')
    expect(await run.result()).toEqual(['b', 'first', 'second'])
  })
})

test('a shield that is open at the return delays the end', async () => {
  const leaving = procedure({ name: 'leaving', grace: '2h' }, async (ctx) => {
    void ctx.shield(async (ctx) => {
      await ctx.sleep('1h')
      await ctx.step('release', () => 'released')
    })
    return 'done'
  })
  await using engine = await testEngine({ procedures: [leaving] })
  const run = await engine.run(leaving)
  expect(await run.result()).toBe('done')
  expect((await engine.log(run.id)).execution_log.map(({ name }) => name)).toEqual(['sleep', 'release'])
})

test('a shield that is open when the grace has passed no longer delays the end', async () => {
  const leaving = procedure({ name: 'leaving' }, async (ctx) => {
    void ctx.shield((ctx) => ctx.sleep('1h'))
    return 'done'
  })
  await using engine = await testEngine({ procedures: [leaving] })
  const run = await engine.run(leaving)
  expect(await run.result()).toBe('done')
  const { endedAt, startedAt } = await run.status()
  expect(Number(endedAt) - Number(startedAt)).toBe(60_000)
})

test('a question of a branch cannot use the key of a question outside', async () => {
  const twice = procedure({ name: 'twice', bugs: 'fail' }, async (ctx) => {
    const to = 'role:ops'
    await ctx.race({
      one: ctx.human.approve('One?', { to, key: 'same' }),
      two: (ctx) => ctx.human.approve('Two?', { to, key: 'same' }),
    })
  })
  await using engine = await testEngine({ procedures: [twice] })
  const run = await engine.run(twice)
  await expect(run.result()).rejects.toThrow('Another ask of this run has that key')
})

test('a race withdraws and cleans up once with a crash after every event', async () => {
  const asking = procedure({ name: 'asking', signals }, async (ctx) => {
    const to = 'role:ops'
    const first = await ctx.race({
      a: ctx.receive('a'),
      asked: async (ctx) => {
        try {
          await ctx.step('begin', () => 'begun')
          return await ctx.human.approve('May I?', { to })
        } finally {
          await ctx.shield((ctx) => ctx.step('tidy', () => 'tidied'))
        }
      },
      also: ctx.human.approve('Or I?', { to, key: 'also' }),
    })
    return [first.winner, await ctx.receive('b')]
  })
  await using engine = await testEngine({ procedures: [asking], humans: silent })
  await engine.crash('every')
  const run = await engine.run(asking)
  await engine.advance('1h')
  expect((await engine.inbox.list()).items).toHaveLength(2)
  await run.signal('a', 'quick')
  await engine.advance('1h')
  expect((await engine.inbox.list()).items).toEqual([])
  await run.signal('b', 'last')
  expect(await run.result()).toEqual(['a', 'last'])
  const { execution_log } = await engine.log(run.id)
  expect(execution_log.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'a done',
    'also withdrawn',
    'approve withdrawn',
    'b done',
    'begin done',
    'tidy done',
  ])
  // At the time of the signal: no later crash has withdrawn them again.
  const withdrawn = execution_log.filter(({ status }) => status === 'withdrawn')
  expect(new Set(withdrawn.map(({ timestamp }) => timestamp))).toEqual(new Set(['2026-01-01T01:00:00.000Z']))
})
