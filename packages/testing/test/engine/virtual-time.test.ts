import { createClient, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const start = Date.parse('2026-01-01T00:00:00Z')
const hour = 3_600_000

const nap = procedure({ name: 'nap' }, async (ctx) => {
  await ctx.sleep('1h')
  return ctx.now().getTime()
})
const order = procedure({ name: 'order', signals: { paid: z.number() } }, (ctx) =>
  ctx.receive('paid', { timeout: '3d' }),
)
const ask = procedure({ name: 'ask' }, (ctx) => ctx.human.approve('Really?'))
const silent = { ask: /./, answer: 'silence' } as const

describe('time', () => {
  test('virtual time begins in 2026, or as the test sets it', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    expect(await (await engine.run(nap)).result()).toBe(start + hour)
    await using later = await testEngine({ procedures: [nap], now: new Date('2030-02-03T04:05:06Z') })
    expect(await (await later.run(nap)).result()).toBe(Date.parse('2030-02-03T05:05:06Z'))
  })

  test('virtual time stands still unless a caller waits', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap)
    await expect.poll(async () => (await run.status()).status).toBe('waiting')
    // Real time passes, for a clock that would go with it.
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect((await run.status()).status).toBe('waiting')
    expect((await engine.run(nap, undefined, { id: 'b' })).id).toBe('b')
    expect((await engine.get('b').status()).startedAt.getTime()).toBe(start)
  })

  test('virtual time advances as far as requested, and no timer further', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    const run = await engine.run(nap)
    await engine.advance('59m')
    expect((await run.status()).status).toBe('waiting')
    await engine.advance('1m')
    expect((await run.status()).status).toBe('completed')
    await engine.advance('1d')
    expect((await engine.run(nap).then((other) => other.status())).startedAt.getTime()).toBe(
      start + 25 * hour,
    )
  })

  test('two concurrent advances pass the longer time once', async () => {
    await using engine = await testEngine({ procedures: [nap] })
    await Promise.all([engine.advance('1h'), engine.advance('2h')])
    expect((await engine.run(nap).then((run) => run.status())).startedAt.getTime()).toBe(start + 2 * hour)
  })

  test('virtual time is not skipped for a result while the test has something to send', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    const [result] = await Promise.all([run.result(), engine.advance('2d').then(() => run.signal('paid', 5))])
    expect(result).toBe(5)
    expect((await run.status()).endedAt?.getTime()).toBe(start + 48 * hour)
  })

  test('virtual time waits for a running body, whatever the clock says', async () => {
    const racing = procedure({ name: 'racing' }, (ctx) =>
      Promise.race([ctx.step('slow', () => ''), ctx.sleep('1ms').then(() => 'timer')]),
    )
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('step'), 100))
    await using engine = await testEngine({ procedures: [racing], steps: { slow } })
    expect(await (await engine.run(racing)).result()).toBe('step')
  })

  test('virtual time advances past a body without activity', async () => {
    const racing = procedure({ name: 'racing' }, (ctx) =>
      Promise.race([ctx.step('hung', () => ''), ctx.sleep('1h').then(() => 'timer')]),
    )
    await using engine = await testEngine({
      procedures: [racing],
      steps: { hung: () => new Promise(() => {}) },
    })
    expect(await (await engine.run(racing)).result()).toBe('timer')
  })

  test('virtual time is shared by all engines on one memory store', async () => {
    const store = memory()
    await using first = await testEngine({ procedures: [nap], store, now: new Date(start + hour) })
    await first.advance('1h')
    await using second = await testEngine({ procedures: [order], store })
    const run = await second.run(order)
    expect((await run.status()).startedAt.getTime()).toBe(start + 2 * hour)
    await Promise.all([first.advance('1h'), second.advance('1h')])
    expect((await first.run(nap).then((other) => other.status())).startedAt.getTime()).toBe(start + 3 * hour)
  })

  test('virtual time does not go back when a store joins it', async () => {
    const store = memory()
    const client = createClient({ store })
    await client.run(nap, undefined, { id: 'a' })
    await client.stop()
    await using engine = await testEngine({ procedures: [nap], store })
    expect(await engine.get(nap, 'a').result()).toBeGreaterThan(Date.parse('2026-06-01'))
  })

  test('the time of another store cannot be skipped, and is refused', async () => {
    await expect(testEngine({ procedures: [], store: { kind: 'other' } })).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('memory()'),
    })
  })
})

describe('people', () => {
  test('people answer in the order of their delays, each ask by the first who matches', async () => {
    const answers: string[] = []
    const several = procedure({ name: 'several' }, async (ctx) => {
      await Promise.all(
        ['A', 'B', 'C'].map(async (name) => {
          const { by } = await ctx.human.approve(`${name}?`, { to: name === 'C' ? 'group:c' : 'group:all' })
          answers.push(`${name} ${by}`)
        }),
      )
    })
    await using engine = await testEngine({
      procedures: [several],
      humans: [
        { ask: /^A/, answer: { approved: true }, after: '3h', as: 'user:slow' },
        {
          ask: ({ to }) => to.includes('group:c'),
          answer: { approved: true },
          after: '0s',
          as: 'user:quick',
        },
        { ask: '?', answer: ({ message }) => ({ approved: true, comment: message }) },
        { ask: '?', answer: { approved: false } },
      ],
    })
    await (await engine.run(several)).result()
    expect(answers).toEqual(['C user:quick', 'B user:test', 'A user:slow'])
  })

  test('people may be added later', async () => {
    await using engine = await testEngine({ procedures: [ask], humans: [] })
    const run = await engine.run(ask)
    await expect(run.result()).rejects.toThrow('Really?')
    engine.humans({ ask: 'Really', answer: { approved: true } })
    expect(await run.result()).toMatchObject({ approved: true })
  })

  test('people may answer too late, without an error', async () => {
    const timed = procedure({ name: 'timed' }, (ctx) => ctx.human.approve('Really?', { timeout: '1h' }))
    await using engine = await testEngine({
      procedures: [timed],
      humans: [{ ask: 'Really', answer: { approved: true }, after: '2h' }],
    })
    expect(await (await engine.run(timed)).result()).toMatchObject({ approved: false, timedOut: true })
    await engine.advance('3h')
  })

  test('an ask without a person fails the test, and the error names it', async () => {
    await using engine = await testEngine({
      procedures: [ask],
      humans: [{ ask: 'Other', answer: 'silence' }],
    })
    const run = await engine.run(ask)
    const failure = /No person in this test matches:\n {2}approve: "Really\?" of run ".+"\n.*'silence'/
    await expect(run.result()).rejects.toThrow(failure)
    await expect(engine.advance('1s')).rejects.toThrow(failure)
  })

  test('silent people fail no test', async () => {
    await using engine = await testEngine({ procedures: [ask], humans: [silent] })
    const run = await engine.run(ask)
    await engine.advance('365d')
    expect((await run.status()).status).toBe('waiting')
  })

  test('an invalid scripted answer fails the test with its issues', async () => {
    for (const answer of [{ choice: 'yes' }, () => ({ approved: 'yes' }) as never]) {
      await using engine = await testEngine({ procedures: [ask], humans: [{ ask: 'Really', answer }] })
      await expect((await engine.run(ask)).result()).rejects.toMatchObject({ code: 'answer-invalid' })
    }
    const broken = (): never => {
      throw new Error('the script is broken')
    }
    await using engine = await testEngine({ procedures: [ask], humans: [{ ask: 'Really', answer: broken }] })
    await expect((await engine.run(ask)).result()).rejects.toThrow('the script is broken')
  })

  test.each([
    [{ answer: { approved: true } }, 'ask of a person'],
    [{ ask: 'Really' }, 'answer of a person'],
    [{ ask: 'Really', answer: 'approved' }, 'answer of a person'],
    [{ ask: 'Really', answer: 'silence', after: 5 }, 'after of a person'],
    [{ ask: 'Really', answer: 'silence', as: 'ana' }, 'as of a person'],
  ])('that cannot be understood are refused: %o', async (person, option) => {
    const given = testEngine({ procedures: [ask], humans: [person as never] })
    await expect(given).rejects.toThrow(option)
    await using engine = await testEngine({ procedures: [ask] })
    expect(() => engine.humans(person as never)).toThrow(option)
  })
})

describe('a wait that cannot end', () => {
  test('a wait that cannot end can be followed by another at once', async () => {
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    await using engine = await testEngine({ procedures: [waiting] })
    const run = await engine.run(waiting)
    for (let i = 0; i < 3; i++) {
      const failure = await run.result().catch((error: Error) => error)
      expect(failure).toMatchObject({ message: expect.stringContaining('The wait cannot end') })
    }
  })

  test('a wait that cannot end fails with what the runs wait for', async () => {
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    await using engine = await testEngine({ procedures: [waiting, ask], humans: [silent] })
    const run = await engine.run(waiting)
    await engine.run(ask)
    await expect(run.result()).rejects.toThrow(/The wait cannot end[\s\S]*ask "approve"[\s\S]*signal "go"/)
    await run.signal('go')
    expect(await run.result()).toBe(true)
  })

  test('a wait does not fail while the test itself is about to act', async () => {
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    await using engine = await testEngine({ procedures: [waiting] })
    const run = await engine.run(waiting)
    const result = run.result()
    await new Promise((resolve) => setTimeout(resolve, 200))
    await run.signal('go')
    expect(await result).toBe(true)
  })
})
