import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf, silent } from './support.ts'

const counter = procedure(
  { name: 'counter', input: z.object({ from: z.number(), to: z.number() }) },
  async (ctx, { from, to }): Promise<number> => {
    const next = await ctx.step('add', () => from + 1)
    return next === to ? next : ctx.continueAs({ from: next, to })
  },
)

describe.each(['on-crash', 'always'] as const)('continueAs (replay: %s)', (replay) => {
  test('continues with an empty log until the procedure returns', async () => {
    await using engine = await testEngine({ procedures: [counter], replay })
    const run = await engine.run(counter, { from: 0, to: 5 }, { id: 'c', tags: ['t'], by: 'user:ana' })
    expect(await run.result()).toBe(5)
    expect(engine.calls).toEqual({ add: 5 })
    expect(await run.status()).toMatchObject({ generation: 5, status: 'completed', tags: ['t'] })
    const { generation, execution_log } = await engine.log('c')
    expect(generation).toBe(5)
    expect(execution_log).toMatchObject([{ position: 4, name: 'add', result: 5 }])
    // The same start finds the run, another input does not.
    expect((await engine.run(counter, { from: 0, to: 5 }, { id: 'c' })).id).toBe('c')
    expect(await refusalOf(engine.run(counter, { from: 4, to: 5 }, { id: 'c' }))).toMatchObject({
      code: 'id-taken',
    })
  })

  test('keeps signals that were not received, in their order', async () => {
    const reader = procedure(
      { name: 'reader', input: z.object({ seen: z.array(z.number()) }), signals: { n: z.number() } },
      async (ctx, { seen }): Promise<number[]> => {
        const n = await ctx.receive('n')
        return n === 9 ? [...seen, n] : ctx.continueAs({ seen: [...seen, n] })
      },
    )
    await using engine = await testEngine({ procedures: [reader], replay })
    const run = await engine.run(reader, { seen: [] })
    for (let n = 0; n < 10; n++) await run.signal('n', n)
    expect(await run.result()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('random values and keys of steps differ between generations', async () => {
    const keys: string[] = []
    const drawing = procedure(
      { name: 'drawing', input: z.object({ drawn: z.array(z.string()) }) },
      async (ctx, { drawn }): Promise<string[]> => {
        await ctx.step('key', ({ idempotencyKey }) => void keys.push(idempotencyKey))
        const all = [...drawn, ctx.uuid()]
        return all.length === 3 ? all : ctx.continueAs({ drawn: all })
      },
    )
    await using engine = await testEngine({ procedures: [drawing], replay })
    const drawn = await (await engine.run(drawing, { drawn: [] })).result()
    expect(new Set(drawn).size).toBe(3)
    expect(new Set(keys).size).toBe(3)
  })

  test('withdraws open asks, and asks again under the same key', async () => {
    const asking = procedure(
      { name: 'asking', input: z.object({ round: z.number() }), signals: { next: z.void() } },
      async (ctx, { round }): Promise<string> => {
        const answer = ctx.human.approve('Go on?', { key: 'go' })
        if (round === 2) return String((await answer).approved)
        await ctx.receive('next')
        return ctx.continueAs({ round: round + 1 })
      },
    )
    await using engine = await testEngine({ procedures: [asking], replay, humans: silent })
    const run = await engine.run(asking, { round: 0 }, { id: 'a' })
    const first = await engine.inbox.next({ run: 'a' })
    await run.signal('next')
    await run.signal('next')
    for (let ask = first; ask.id !== first.id; ask = await engine.inbox.next({ run: 'a' }));
    await expect.poll(async () => (await run.status()).generation).toBe(3)
    const last = await engine.inbox.next({ run: 'a' })
    expect(last.position).toBe(4)
    expect((await engine.inbox.get(first.id))?.status).toBe('withdrawn')
    await engine.inbox.answer({ run: 'a', key: 'go' }, { approved: true }, { as: 'user:ana' })
    expect(await run.result()).toBe('true')
  })

  test('a cancelled run does not continue, whatever its code does', async () => {
    const undone: string[] = []
    const stubborn = procedure({ name: 'stubborn' }, async (ctx): Promise<void> => {
      await ctx.step('hold', () => 1, { undo: () => void undone.push('hold') })
      await ctx.sleep('1d').catch(() => {})
      return ctx.continueAs()
    })
    const late = procedure({ name: 'late' }, async (ctx): Promise<void> => {
      const request = ctx.continueAs()
      await ctx.sleep('1d').catch(() => {})
      return request
    })
    await using engine = await testEngine({ procedures: [stubborn, late], replay })
    for (const one of [stubborn, late]) {
      const run = await engine.run(one)
      await engine.advance('3s')
      await run.cancel('enough')
      expect(await refusalOf(run.result())).toMatchObject({ code: 'run-cancelled' })
      expect(await run.status()).toMatchObject({ cancelReason: 'enough', generation: 1 })
    }
    expect(undone).toEqual(['hold'])
  })

  test('a cancel that arrives while the run continues cancels the next generation', async () => {
    const busy = procedure(
      { name: 'busy', input: z.object({ round: z.number() }) },
      async (ctx, { round }): Promise<void> => {
        await ctx.step('work', () => 1)
        return ctx.continueAs({ round: round + 1 })
      },
    )
    await using engine = await testEngine({ procedures: [busy], replay })
    const run = await engine.run(busy, { round: 0 })
    await run.cancel('enough')
    expect(await refusalOf(run.result())).toMatchObject({ code: 'run-cancelled' })
  })
})

describe('continueAs', () => {
  test('fails the run if something else is returned', async () => {
    const forgetful = procedure({ name: 'forgetful' }, async (ctx) => {
      void ctx.continueAs()
      return 1
    })
    await using engine = await testEngine({ procedures: [forgetful], logger: keepLines().logger })
    const { message } = await refusalOf((await engine.run(forgetful)).result())
    expect(message).toContain('return ctx.continueAs(…)')
  })

  test('fails the run if the input does not fit', async () => {
    const wrong = procedure(
      { name: 'wrong', input: z.object({ n: z.number() }) },
      async (ctx: Ctx): Promise<void> => ctx.continueAs({ n: 'many' }),
    )
    await using engine = await testEngine({ procedures: [wrong], logger: keepLines().logger })
    const { message } = await refusalOf((await engine.run(wrong, { n: 1 })).result())
    expect(message).toContain('The run could not continue with it')
  })

  test('forgets registered undos, with a warning', async () => {
    const { logger, lines } = keepLines()
    const undoing = procedure(
      { name: 'undoing', input: z.object({ round: z.number() }) },
      async (ctx, { round }): Promise<void> => {
        if (round === 1) throw new Error('no')
        await ctx.step('hold', () => 1, { undo: () => {} })
        return ctx.continueAs({ round: 1 })
      },
    )
    await using engine = await testEngine({ procedures: [undoing], logger })
    const run = await engine.run(undoing, { round: 0 })
    await refusalOf(run.result())
    expect((await run.status()).rollback).toBeUndefined()
    expect(lines.map(({ message }) => message)).toContain(
      `Run "${run.id}" has continued with 1 registered undos, which are forgotten`,
    )
  })

  test('keeps the timeout of the run, and its children', async () => {
    const child = procedure({ name: 'child' }, (ctx) => ctx.sleep('1d'))
    const parent = procedure(
      { name: 'parent', input: z.object({ round: z.number() }) },
      async (ctx, { round }): Promise<void> => {
        if (round === 0) await ctx.spawn(child, undefined, { id: 'kid' })
        await ctx.sleep('1m')
        return ctx.continueAs({ round: round + 1 })
      },
    )
    await using engine = await testEngine({ procedures: [parent, child], logger: keepLines().logger })
    const run = await engine.run(parent, { round: 0 }, { timeout: '1h' })
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-cancelled',
      details: { reason: 'timed out' },
    })
    expect((await run.status()).generation).toBeGreaterThan(50)
    expect(await refusalOf(engine.get(child, 'kid').result())).toMatchObject({ code: 'run-cancelled' })
  })

  test('a signal that is still being checked goes to the next generation', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = z.string().refine(async () => {
      await released
      return true
    })
    const waiting = procedure(
      { name: 'waiting', input: z.object({ round: z.number() }), signals: { slow, go: z.void() } },
      async (ctx, { round }): Promise<string> => {
        const text = ctx.receive('slow')
        if (round === 1) return text
        text.catch(() => {})
        await ctx.receive('go')
        return ctx.continueAs({ round: 1 })
      },
    )
    await using engine = await testEngine({ procedures: [waiting] })
    const run = await engine.run(waiting, { round: 0 })
    // Sent by an id alone, so that only the worker checks it.
    const sent = engine.get(run.id).signal('slow', 'late')
    await sent
    await run.signal('go')
    await expect.poll(async () => (await run.status()).generation).toBe(2)
    release()
    expect(await run.result()).toBe('late')
  })

  test('a child continues, and its parent hears of its end', async () => {
    const parent = procedure({ name: 'parent' }, (ctx) => ctx.call(counter, { from: 0, to: 4 }))
    await using engine = await testEngine({ procedures: [parent, counter] })
    expect(await (await engine.run(parent)).result()).toBe(4)
  })
})

describe('the limits of a log', () => {
  const endless = procedure({ name: 'endless' }, async (ctx) => {
    for (;;) await ctx.step('one more', () => 1)
  })

  test('a long log is warned of, and a full one fails its run', async () => {
    const { logger, lines } = keepLines()
    await using engine = await testEngine({
      procedures: [endless],
      logger,
      logLimits: { warn: 20, full: 50 },
    })
    const run = await engine.run(endless)
    expect(await refusalOf(run.result())).toMatchObject({ details: { cause: { code: 'log-full' } } })
    expect(engine.calls).toEqual({ 'one more': 49 })
    expect(lines.filter(({ message }) => message.includes('has 20 events'))).toHaveLength(1)
  })

  test('attempts count, and generations count from 0', async () => {
    const failing = procedure({ name: 'failing' }, (ctx) =>
      ctx.step('never', () => Promise.reject(new Error('no')), {
        retry: { attempts: 1_000, backoff: '1ms' },
      }),
    )
    await using engine = await testEngine({
      procedures: [failing, counter],
      logger: keepLines().logger,
      logLimits: { warn: 20, full: 50 },
    })
    expect(await refusalOf((await engine.run(failing)).result())).toMatchObject({
      details: { cause: { code: 'log-full' } },
    })
    expect(await (await engine.run(counter, { from: 0, to: 100 })).result()).toBe(100)
  })
})

describe('runOrGet with ifEnded', () => {
  test('starts an ended run again, and returns a live one', async () => {
    const echo = procedure(
      { name: 'echo', input: z.object({ n: z.number() }), signals: { go: z.void() } },
      async (ctx, { n }) => {
        await ctx.receive('go')
        return n
      },
    )
    await using engine = await testEngine({ procedures: [echo] })
    const again = { id: 'e', ifEnded: 'again' } as const
    const first = await engine.runOrGet(echo, { n: 1 }, again)
    await engine.runOrGet(echo, { n: 2 }, again)
    await first.signal('go', { id: 'once' })
    expect(await first.result()).toBe(1)
    expect(await (await engine.runOrGet(echo, { n: 2 }, { id: 'e' })).result()).toBe(1)

    const second = await engine.runOrGet(echo, { n: 3 }, { ...again, tags: ['second'], by: 'user:bob' })
    expect(await second.status()).toMatchObject({ generation: 2, tags: ['second'], startedBy: 'user:bob' })
    expect((await engine.list({ tag: 'second' })).items).toHaveLength(1)
    // The key of a signal to an earlier generation is free.
    await second.signal('go', { id: 'once' })
    expect(await second.result()).toBe(3)
    expect((await engine.log('e')).execution_log).toMatchObject([{ position: 1, type: 'signal' }])
    expect((await engine.run(echo, { n: 3 }, { id: 'e' })).id).toBe('e')
  })

  test('a cancelled run starts again, and can be cancelled again', async () => {
    const sleeper = procedure({ name: 'sleeper' }, (ctx) => ctx.sleep('1d'))
    await using engine = await testEngine({ procedures: [sleeper] })
    for (let round = 1; round <= 3; round++) {
      const run = await engine.runOrGet(sleeper, undefined, { id: 's', ifEnded: 'again' })
      await run.cancel(`round ${round}`)
      expect(await refusalOf(run.result())).toMatchObject({ code: 'run-cancelled' })
      expect(await run.status()).toMatchObject({ generation: round, cancelReason: `round ${round}` })
    }
  })
})
