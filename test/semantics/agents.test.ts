import { type AgentCall, agent, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail } from './support.ts'

const writer = agent(
  { name: 'writer', input: z.object({ topic: z.string() }), output: z.object({ text: z.string() }) },
  async ({ topic }, { usage }) => {
    usage({ model: 'small', inputTokens: 10 })
    usage({ model: 'small', outputTokens: 5, costUsd: 0.01 })
    return { text: `About ${topic}` }
  },
)
const blog = procedure({ name: 'blog', input: z.string() }, async (ctx, topic) => {
  const draft = await ctx.agent(writer, { topic })
  await ctx.sleep('1h')
  return draft.text
})

describe('a call to an agent', () => {
  test('records an agent call with its usage as type llm, and replays it without a call', async () => {
    await using engine = await testEngine({ procedures: [blog] })
    await engine.crash('every')
    const run = await engine.run(blog, 'cats')
    expect(await run.result()).toBe('About cats')
    expect(engine.calls).toEqual({ writer: 1 })
    expect((await engine.log(run.id)).execution_log[0]).toMatchObject({
      type: 'llm',
      name: 'writer',
      status: 'done',
      result: {
        output: { text: 'About cats' },
        usage: [
          { model: 'small', inputTokens: 10 },
          { model: 'small', outputTokens: 5, costUsd: 0.01 },
        ],
      },
    })
  })

  test('replaces an agent in a test with an output or a function of the input', async () => {
    await using value = await testEngine({ procedures: [blog], agents: { writer: { text: 'fixed' } } })
    expect(await (await value.run(blog, 'x')).result()).toBe('fixed')
    await using made = await testEngine({
      procedures: [blog],
      agents: { writer: ({ topic }: { topic: string }) => ({ text: topic }) },
    })
    expect(await (await made.run(blog, 'x')).result()).toBe('x')
  })

  test('retries an agent that fails or returns an invalid output, and keeps the usage of all attempts', async () => {
    const outputs: (() => unknown)[] = [() => fail('busy'), () => ({ text: 5 }), () => ({ text: 'third' })]
    await using engine = await testEngine({
      procedures: [blog],
      agents: {
        writer: (_: unknown, { usage, attempt }: AgentCall) => {
          usage({ inputTokens: attempt })
          return outputs[attempt - 1]?.()
        },
      },
    })
    await engine.crash('every')
    const run = await engine.run(blog, 'x')
    expect(await run.result()).toBe('third')
    expect(engine.calls).toEqual({ writer: 3 })
    const [entry] = (await engine.log(run.id)).execution_log
    expect(entry?.result).toEqual({
      output: { text: 'third' },
      usage: [{ inputTokens: 1 }, { inputTokens: 2 }, { inputTokens: 3 }],
      input: { value: { topic: 'x' } },
    })
  })

  test('fails an agent call with the schema issues if no attempt is valid', async () => {
    await using engine = await testEngine({ procedures: [blog], agents: { writer: { text: 5 } } })
    await expect((await engine.run(blog, 'x')).result()).rejects.toMatchObject({
      details: { cause: { code: 'step-failed' } },
      cause: {
        details: {
          step: 'writer',
          attempts: 3,
          cause: { code: 'output-invalid', message: expect.stringContaining('text') },
        },
      },
    })
  })

  test('keeps the usage of all attempts of an agent call that fails', async () => {
    for (const { retry, failing } of [
      { retry: { attempts: 2, backoff: '1ms' }, failing: () => fail() },
      { retry: { attempts: 2, backoff: '1ms' }, failing: () => ({ text: 'x'.repeat(3_000_000) }) },
    ] as const) {
      const spending = procedure({ name: 'spending' }, (ctx) => ctx.agent(writer, { topic: '' }, { retry }))
      const attempts: number[] = []
      await using engine = await testEngine({
        procedures: [spending],
        agents: {
          writer: (_: unknown, { usage, attempt }: AgentCall) => {
            attempts.push(attempt)
            usage({ inputTokens: attempt })
            return failing()
          },
        },
      })
      const run = await engine.run(spending)
      await expect(run.result()).rejects.toThrow()
      expect((await engine.log(run.id)).execution_log).toMatchObject([
        { status: 'failed', result: { usage: attempts.map((inputTokens) => ({ inputTokens })) } },
      ])
    }
  })

  test('does not retry an agent call with an invalid input', async () => {
    const wrong = procedure({ name: 'wrong' }, (ctx) => ctx.agent(writer, { topic: 5 as unknown as string }))
    await using engine = await testEngine({ procedures: [wrong] })
    await expect((await engine.run(wrong)).result()).rejects.toMatchObject({
      cause: { details: { attempts: 1, cause: { code: 'input-invalid' } } },
    })
    expect(engine.calls).toEqual({})
  })

  test('gives an agent its own copy of the input', async () => {
    const sorter = agent(
      { name: 'sorter', input: z.any(), output: z.any() },
      async (input: { list: number[] }) => input.list.sort((a, b) => a - b),
    )
    const sorting = procedure({ name: 'sorting' }, async (ctx) => {
      const input = { list: [3, 1, 2] }
      const sorted = await ctx.agent(sorter, input)
      return { sorted, list: input.list }
    })
    await using engine = await testEngine({ procedures: [sorting] })
    expect(await (await engine.run(sorting)).result()).toEqual({ sorted: [1, 2, 3], list: [3, 1, 2] })
  })

  test('accepts a name and step options for one agent call', async () => {
    const patient = agent({ name: 'patient', input: z.any(), output: z.any(), retry: false }, async () =>
      fail(),
    )
    const calling = procedure({ name: 'calling' }, async (ctx) => {
      await ctx.agent(patient, 1).catch(() => {})
      await ctx.agent(patient, 1, { name: 'again', retry: { attempts: 2, jitter: 'none' } }).catch(() => {})
    })
    await using engine = await testEngine({ procedures: [calling] })
    const run = await engine.run(calling)
    await run.result()
    expect(engine.calls).toEqual({ patient: 3 })
    expect((await engine.log(run.id)).execution_log.map(({ name }) => name)).toEqual(['patient', 'again'])
  })
})
