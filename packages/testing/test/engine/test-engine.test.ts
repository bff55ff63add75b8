import { procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Memory } from '../../src/memory-store.ts'

const two = procedure({ name: 'two' }, async (ctx) => {
  const first = await ctx.step('first', () => 'real first')
  await ctx.sleep('1h')
  return { first, second: await ctx.step('second', () => 'real second'), drawn: [ctx.random(), ctx.uuid()] }
})

test.each([
  ['now', '2026-01-01', 'a valid Date'],
  ['now', new Date('no date'), 'a valid Date'],
  ['replay', 'sometimes', "one of 'always', 'on-crash'"],
  ['seed', 'x', 'a number'],
  ['strict', 'yes', 'true or false'],
  ['steps', 5, 'an object'],
  ['agents', [], 'an object'],
  ['humans', {}, 'an array'],
])('the option %s cannot be %s: it must be %s', async (option, value, wanted) => {
  await expect(testEngine({ procedures: [], [option]: value } as never)).rejects.toMatchObject({
    code: 'option-invalid',
    message: expect.stringMatching(
      new RegExp(`^The option ${option} of testEngine cannot be .* It must be ${wanted}\\.$`),
    ),
  })
})

test('unknown options are refused, and the known ones are listed', async () => {
  const misspelt = { procedures: [two], human: [] }
  await expect(testEngine(misspelt)).rejects.toThrow(/no option human in the options of testEngine.*humans/)
})

test('testEngine without options names the missing ones', async () => {
  await expect((testEngine as () => Promise<unknown>)()).rejects.toMatchObject({
    code: 'option-invalid',
    message: expect.stringContaining('procedures'),
  })
})

describe('crash', () => {
  test("crash 'now' kills the worker during a body, which the next worker runs again", async () => {
    const ends: ((value: string) => void)[] = []
    const signals: AbortSignal[] = []
    await using engine = await testEngine({
      procedures: [two],
      steps: {
        first: ({ signal }: { signal: AbortSignal }) => {
          signals.push(signal)
          return new Promise((resolve) => ends.push(resolve))
        },
      },
    })
    const run = await engine.run(two)
    while (ends.length < 1) await new Promise((resolve) => setImmediate(resolve))
    await engine.crash()
    while (ends.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    ends[0]?.('from the grave')
    ends[1]?.('from the living')
    expect(await run.result()).toMatchObject({ first: 'from the living' })
    expect(engine.calls).toEqual({ first: 2, second: 1 })
  })

  test("crash 'every' kills after each write without changing results or random numbers", async () => {
    const outcomes: unknown[] = []
    for (const crashes of [false, true]) {
      await using engine = await testEngine({ procedures: [two] })
      if (crashes) await engine.crash('every')
      const run = await engine.run(two)
      outcomes.push([await run.result(), engine.calls, await engine.log(run.id), (await engine.list()).items])
    }
    expect(outcomes[1]).toEqual(outcomes[0])
  })

  test("crash 'every' lets a step end that starts a run and signals it, without an id of its own", async () => {
    const child = procedure({ name: 'child', signals: { go: z.number() } }, async (ctx) => {
      const first = await ctx.receive('go')
      await ctx.sleep('1d')
      return first
    })
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.step('start', async () => {
        const run = await engine.run(child, undefined, { id: 'child' })
        await run.signal('go', 1)
        await run.signal('go', 2)
      })
      return ctx.step('wait', () => engine.get(child, 'child').result())
    })
    await using engine = await testEngine({ procedures: [parent, child] })
    await engine.crash('every')
    expect(await (await engine.run(parent)).result()).toBe(1)
    expect(engine.calls['start']).toBeLessThan(6)
  })

  test("crash 'every' affects no other run that is busy", async () => {
    let end = (_: string): void => {}
    await using engine = await testEngine({
      procedures: [two],
      steps: {
        first: ({ attempt }: { attempt: number }) =>
          attempt === 1 ? new Promise((resolve) => (end = resolve)) : 1,
      },
    })
    const slow = await engine.run(two, undefined, { id: 'slow' })
    await engine.crash('every')
    for (let index = 0; index < 12; index++) await engine.run(two, undefined, { id: `other ${index}` })
    while ((engine.calls['first'] ?? 0) < 14) await new Promise((resolve) => setImmediate(resolve))
    end('done')
    expect((await slow.status()).status).toBe('running')
  })

  test('crash ignores a run that five workers in a row have died with', async () => {
    await using engine = await testEngine({
      procedures: [two],
      steps: { first: () => new Promise(() => {}) },
    })
    const run = await engine.run(two)
    let died = 0
    while ((await run.status()).status === 'running' && died < 20) {
      while ((engine.calls['first'] ?? 0) <= died) {
        await new Promise((resolve) => setImmediate(resolve))
        if ((await run.status()).status === 'quarantined') break
      }
      if ((await run.status()).status === 'quarantined') break
      died++
      await engine.crash()
    }
    expect(died).toBe(7)
    await expect(run.result()).rejects.toMatchObject({
      code: 'run-quarantined',
      details: { reason: expect.stringContaining('died') },
    })
  })
})

describe("replay: 'always'", () => {
  test("replay 'always' delivers every event to a new continuation", async () => {
    let begun = 0
    const counting = procedure({ name: 'counting' }, async (ctx) => {
      begun++
      await ctx.step('a', () => 1)
      await Promise.all([ctx.step('b', () => 1), ctx.sleep('1s')])
      await ctx.sleep('1h')
      return 'done'
    })
    const play = async (replay: 'always' | 'on-crash'): Promise<{ begun: number; outcome: unknown }> => {
      begun = 0
      await using engine = await testEngine({ procedures: [counting], replay })
      const run = await engine.run(counting)
      return { outcome: [await run.result(), engine.calls, (await engine.log(run.id)).execution_log], begun }
    }
    const plain = await play('on-crash')
    const always = await play('always')
    expect(always.outcome).toEqual(plain.outcome)
    expect(plain.begun).toBe(1)
    expect(always.begun).toBeGreaterThanOrEqual(5)
  })

  test("replay 'always' does not run a body twice that runs during the replay", async () => {
    const ends: (() => void)[] = []
    const parallel = procedure({ name: 'parallel' }, (ctx) =>
      Promise.all(['a', 'b', 'c'].map((name) => ctx.step(name, () => name))),
    )
    const slow = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
    await using engine = await testEngine({
      procedures: [parallel],
      steps: { a: slow, b: slow, c: slow },
      replay: 'always',
    })
    const run = await engine.run(parallel)
    while (ends.length < 3) await new Promise((resolve) => setImmediate(resolve))
    for (const end of ends) {
      end()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await run.result()
    expect(engine.calls).toEqual({ a: 1, b: 1, c: 1 })
  })

  test("replay 'always' logs each line once", async () => {
    const lines: string[] = []
    const logger = {
      debug: () => {},
      info: (line: string) => void lines.push(line),
      warn: () => {},
      error: () => {},
    }
    const talking = procedure({ name: 'talking' }, async (ctx) => {
      ctx.log.info('one')
      await ctx.step('a', () => 1)
      ctx.log.info('two')
      await ctx.sleep('1h')
      ctx.log.info('three')
    })
    await using engine = await testEngine({ procedures: [talking], replay: 'always', logger })
    await (await engine.run(talking)).result()
    expect(lines).toEqual(['one', 'two', 'three'])
  })

  test("replay 'always' finds a procedure that differs between replays", async () => {
    let times = 0
    const fickle = procedure({ name: 'fickle' }, async (ctx) => {
      await ctx.step(`step ${times++}`, () => 1)
      await ctx.step('next', () => 1)
    })
    await using engine = await testEngine({ procedures: [fickle], replay: 'always' })
    await expect((await engine.run(fickle)).result()).rejects.toMatchObject({ code: 'nondeterminism' })
  })
})

describe('an engine that could not be started', () => {
  const waiting = procedure({ name: 'waiting' }, async (ctx) => {
    await ctx.sleep('1d')
    return 'slept'
  })
  const worldOf = () => [Date, Math.random, process.emit]

  test.each<[string, object, string]>([
    ['people that are none', { humans: [{ ask: 5, answer: 'silence' }] }, 'The option ask of a person'],
    ['people that cannot be read', { humans: 'ana' }, 'The option humans of testEngine'],
  ])('leaves the world and its store as they were: %s', async (_, mistake, words) => {
    const world = worldOf()
    const store = memory()
    await expect(testEngine({ store, procedures: [waiting], ...mistake })).rejects.toThrow(words)
    expect(worldOf()).toEqual(world)
    await using engine = await testEngine({ store, procedures: [waiting] })
    expect(await (await engine.run(waiting)).result()).toBe('slept')
  })

  test('an engine whose store cannot be opened releases everything', async () => {
    const world = worldOf()
    const store = memory()
    const { connect } = Memory.prototype
    vi.spyOn(Memory.prototype, 'connect').mockImplementation(function (this: Memory, process) {
      const open = () => Promise.reject(new Error('no room'))
      const close = () => Promise.reject(new Error('no end either'))
      return { ...connect.call(this, process), open, close }
    })
    await expect(testEngine({ store, procedures: [waiting] })).rejects.toThrow('no room')
    vi.restoreAllMocks()
    expect(worldOf()).toEqual(world)
    await using engine = await testEngine({ store, procedures: [waiting] })
    expect(await (await engine.run(waiting)).result()).toBe('slept')
  })
})

test('the same seed gives the same run, to the last id', async () => {
  const play = async (seed?: number): Promise<unknown> => {
    await using engine = await testEngine({ procedures: [two], ...(seed === undefined ? {} : { seed }) })
    const run = await engine.run(two)
    return [run.id, await run.result()]
  }
  expect(await play(7)).toEqual(await play(7))
  expect(await play()).toEqual(await play())
  expect(await play(7)).not.toEqual(await play(8))
})

describe('the end of an engine', () => {
  test('stop releases the runs of a test engine to the next', async () => {
    const store = memory()
    const first = await testEngine({ procedures: [two], store })
    const run = await first.run(two)
    await first.advance('1m')
    await first.stop()
    await using second = await testEngine({ procedures: [two], store })
    expect(await second.get(two, run.id).result()).toMatchObject({
      first: 'real first',
      second: 'real second',
    })
    expect(second.calls).toEqual({ second: 1 })
  })

  test('stop waits for running bodies, up to its timeout', async () => {
    const engine = await testEngine({ procedures: [two], steps: { first: () => new Promise(() => {}) } })
    await engine.run(two)
    while (engine.calls['first'] === undefined) await new Promise((resolve) => setImmediate(resolve))
    await engine.stop({ within: '1m' })
  })

  test('stop may be called several times, and leaves nothing behind', async () => {
    const before = process.listenerCount('uncaughtException')
    const { emit } = process
    const engine = await testEngine({ procedures: [two] })
    await Promise.all([engine.stop(), engine.stop(), engine[Symbol.asyncDispose]()])
    expect(process.listenerCount('uncaughtException')).toBe(before)
    expect(process.emit).toBe(emit)
    expect(Date.now()).toBeGreaterThan(Date.parse('2026-06-01'))
  })
})
