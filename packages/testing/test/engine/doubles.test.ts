import { agent, type Logger, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const two = procedure({ name: 'two' }, async (ctx) => {
  const first = await ctx.step('first', () => 'real first')
  return { first, second: await ctx.step('second', () => 'real second') }
})
const writer = agent(
  { name: 'writer', input: z.string(), output: z.object({ text: z.string() }), retry: false },
  async (text) => ({ text }),
)
const writing = procedure({ name: 'writing' }, async (ctx) => {
  const { text } = await ctx.agent(writer, 'tea')
  return ctx.step('publish', () => `published ${text}`)
})
const deleting = procedure({ name: 'deleting' }, (ctx) =>
  Promise.all(['delete a', 'delete b', 'keep c'].map((name) => ctx.step(name, () => `real ${name}`))),
)

/** A logger that keeps its warnings. */
function keepWarnings(): { warnings: string[]; logger: Logger } {
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line), error() {} }
  return { warnings, logger }
}

describe('a double', () => {
  test('a double is a result, or a function in place of the body', async () => {
    await using engine = await testEngine({
      procedures: [two],
      steps: { first: ({ attempt }: { attempt: number }) => `attempt ${attempt}`, second: 2 },
      strict: true,
    })
    expect(await (await engine.run(two)).result()).toEqual({ first: 'attempt 1', second: 2 })
    expect(engine.calls).toEqual({ first: 1, second: 1 })
  })

  test('a double may be undefined, null or false', async () => {
    await using engine = await testEngine({ procedures: [two], steps: { first: undefined, second: false } })
    expect(await (await engine.run(two)).result()).toEqual({ first: undefined, second: false })
  })

  test("a double replaces only the step with its name, even if the name is that of an object's method", async () => {
    const odd = procedure({ name: 'odd' }, (ctx) => ctx.step('toString', () => 'real'))
    await using engine = await testEngine({ procedures: [odd], steps: {} })
    expect(await (await engine.run(odd)).result()).toBe('real')
    expect(engine.calls).toEqual({ toString: 1 })
  })

  test('a double of an agent is validated by the schemas of the agent', async () => {
    await using engine = await testEngine({ procedures: [writing], agents: { writer: { text: 5 } } })
    await expect((await engine.run(writing)).result()).rejects.toMatchObject({ code: 'run-failed' })
  })
})

describe('a `*` in the name of a double', () => {
  const play = async (steps: object): Promise<unknown> => {
    const { logger } = keepWarnings()
    await using engine = await testEngine({ procedures: [deleting], steps: { ...steps }, logger })
    return await (await engine.run(deleting)).result()
  }

  test.each([
    ['delete *', ['double', 'double', 'real keep c']],
    ['* a', ['double', 'real delete b', 'real keep c']],
    ['*', ['double', 'double', 'double']],
    ['*el*e*', ['double', 'double', 'real keep c']],
    ['d*a*', ['double', 'real delete b', 'real keep c']],
    ['delete a*', ['double', 'real delete b', 'real keep c']],
    ['**p **', ['real delete a', 'real delete b', 'double']],
    // The end may not overlap the beginning, nor letters in between be used twice.
    ['delete a*a', ['real delete a', 'real delete b', 'real keep c']],
    ['d*te a*te a', ['real delete a', 'real delete b', 'real keep c']],
    ['elete *', ['real delete a', 'real delete b', 'real keep c']],
    ['delete .', ['real delete a', 'real delete b', 'real keep c']],
  ])('matches any text, an empty one too: %s', async (name, expected) => {
    expect(await play({ [name]: 'double' })).toEqual(expected)
  })

  test('a pattern with `*` yields to the exact name, and to an earlier match', async () => {
    const steps = { 'delete *': 'pattern', 'del*': 'later', 'delete b': 'exact' }
    expect(await play(steps)).toEqual(['pattern', 'exact', 'real keep c'])
  })

  test('a `*` may be part of an exact name', async () => {
    const { logger } = keepWarnings()
    const product = procedure({ name: 'product' }, (ctx) => ctx.step('2 * 3', () => 6))
    await using engine = await testEngine({ procedures: [product], steps: { '2 *': 0, '2 * 3': 7 }, logger })
    expect(await (await engine.run(product)).result()).toBe(7)
  })

  test('patterns with `*` match agents too', async () => {
    await using engine = await testEngine({
      procedures: [writing],
      agents: { 'writ*': (topic: string) => ({ text: `about ${topic}` }) },
      steps: { '*': (): string => 'published' },
      strict: true,
    })
    expect(await (await engine.run(writing)).result()).toBe('published')
    expect(engine.calls).toEqual({ writer: 1, publish: 1 })
  })
})

describe('when the engine stops, a warning names', () => {
  const realSecond = 'The real body of the step "second" ran.'

  test.each([
    [
      'a double of a step that was never called',
      { steps: { first: 1, second: 2, unused: 3 } },
      ['The double of the step "unused" was never called.'],
    ],
    [
      'a double of an agent that was never called',
      { steps: { '*': 1 }, agents: { unused: 3 } },
      ['The double of the agent "unused" was never called.'],
    ],
    [
      'a pattern that matched nothing',
      { steps: { first: 1, second: 2, 'fir * st': 3 } },
      ['The double of the step "fir * st" was never called.'],
    ],
    ['a step whose real body ran', { steps: { first: 1 } }, [realSecond]],
    [
      'the step that a misspelt double was probably meant for',
      { steps: { frist: 1, second: 2 } },
      ['The double of the step "frist" was never called, and the real body of the step "first" ran.'],
    ],
    [
      'the step that a double of an agent was probably meant for',
      { agents: { first: 1 }, steps: { second: 2 } },
      ['The double of the agent "first" was never called, and the real body of the step "first" ran.'],
    ],
    [
      'no short name as a misspelt one',
      { steps: { fist: 1, second: 2 } },
      ['The double of the step "fist" was never called.', 'The real body of the step "first" ran.'],
    ],
    ['nothing if each body had its double', { steps: { first: 1, second: 2 } }, []],
    ['nothing if no double is given', { steps: {}, agents: {} }, []],
  ])('%s', async (_, doubles: object, expected) => {
    const { warnings, logger } = keepWarnings()
    const engine = await testEngine({ procedures: [two], ...doubles, logger })
    await (await engine.run(two)).result()
    expect(warnings).toEqual([])
    await engine.stop()
    await engine[Symbol.asyncDispose]()
    expect(warnings).toEqual(expected.map((start) => expect.stringContaining(start)))
  })

  test('a warning at the stop names the real body of an agent', async () => {
    const { warnings, logger } = keepWarnings()
    {
      await using engine = await testEngine({ procedures: [writing], steps: { publish: 1 }, logger })
      await (await engine.run(writing)).result()
    }
    expect(warnings).toEqual([expect.stringContaining('The real body of the agent "writer" ran.')])
  })

  test('a warning at the stop names an agent with a short name whose step has a double', async () => {
    const paying = procedure({ name: 'paying' }, (ctx) => ctx.step('pay', () => 'real'))
    const { warnings, logger } = keepWarnings()
    const engine = await testEngine({ procedures: [paying], agents: { pay: 1 }, logger })
    await (await engine.run(paying)).result()
    await engine.stop()
    expect(warnings).toEqual([
      expect.stringContaining(
        'The double of the agent "pay" was never called, and the real body of the step',
      ),
    ])
  })

  test('a warning at the stop names many real bodies in one line, the first ten by name', async () => {
    const many = procedure({ name: 'many' }, async (ctx) => {
      for (let index = 0; index < 13; index++) await ctx.step(`file ${index}`, () => index)
    })
    const { warnings, logger } = keepWarnings()
    {
      await using engine = await testEngine({ procedures: [many], steps: { 'file 0': 0 }, logger })
      await (await engine.run(many)).result()
    }
    expect(warnings).toEqual([expect.stringContaining('The real bodies of 12 steps ran: "file 1", "file 2"')])
    expect(warnings[0]).toContain('"file 10" and 2 more.')
    expect(warnings[0]).not.toContain('"file 11"')
  })

  test('no warning names bodies of an engine that could not start', async () => {
    const { warnings, logger } = keepWarnings()
    const humans = [{ ask: 5 as never, answer: 'silence' as const }]
    const starting = testEngine({ procedures: [two], steps: { first: 1 }, humans, logger, strict: true })
    await expect(starting).rejects.toMatchObject({ code: 'option-invalid' })
    expect(warnings).toEqual([])
  })
})

describe('`strict`', () => {
  const strictEngine = async (doubles: object) => {
    const { warnings, logger } = keepWarnings()
    const engine = await testEngine({ procedures: [two], ...doubles, strict: true, logger })
    return { engine, warnings, result: await (await engine.run(two)).result() }
  }

  test.each<[string, object, RegExp]>([
    ['a double that was never called', { steps: { '*': 1, unused: 2 } }, /step "unused" was never called/],
    ['a real body that ran', { steps: { first: 1 } }, /real body of the step "second" ran/],
    ['a real body without any double', {}, /real bodies of 2 steps ran: "first", "second"/],
  ])('rejects the end of the engine after %s', async (_, doubles, message) => {
    const { engine, warnings } = await strictEngine(doubles)
    await expect(engine.stop()).rejects.toThrow(message)
    const { engine: other } = await strictEngine(doubles)
    await expect(other[Symbol.asyncDispose]()).rejects.toThrow(message)
    expect(warnings).toEqual([])
  })

  test('`strict` lists all faults in one error', async () => {
    const { engine } = await strictEngine({ steps: { first: 1, unused: 2, other: 3 } })
    await expect(engine.stop()).rejects.toThrow(/"unused".*\n.*"other".*\n.*real body of the step "second"/)
  })

  test('`strict` fails a test that disposes of its engine', async () => {
    const body = async (): Promise<void> => {
      await using engine = await testEngine({ procedures: [two], steps: { first: 1 }, strict: true })
      await (await engine.run(two)).result()
    }
    await expect(body()).rejects.toThrow(/real body of the step "second" ran/)
  })

  test('`strict` accepts each body with its double, however often the worker crashes', async () => {
    await using engine = await testEngine({ procedures: [two], steps: { first: 1, 's*': 2 }, strict: true })
    await engine.crash('every')
    expect(await (await engine.run(two)).result()).toEqual({ first: 1, second: 2 })
  })

  test('`strict` releases everything although the end rejects', async () => {
    const world = () => [Date, Math.random, process.emit]
    const before = world()
    const { engine } = await strictEngine({})
    await expect(engine.stop()).rejects.toThrow('real bodies')
    expect(world()).toEqual(before)
  })
})
