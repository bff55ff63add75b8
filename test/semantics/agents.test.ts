import {
  type AgentCall,
  agent,
  type Decision,
  decider,
  FinalError,
  procedure,
  type Question,
} from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail, minute, start } from './support.ts'

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
  test('is recorded with its usage, as type llm, and replayed without a call', async () => {
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

  test('is replaced in a test by an output, or a function of the input', async () => {
    await using value = await testEngine({ procedures: [blog], agents: { writer: { text: 'fixed' } } })
    expect(await (await value.run(blog, 'x')).result()).toBe('fixed')
    await using made = await testEngine({
      procedures: [blog],
      agents: { writer: ({ topic }: { topic: string }) => ({ text: topic }) },
    })
    expect(await (await made.run(blog, 'x')).result()).toBe('x')
  })

  test('is retried when it fails or returns what does not fit, and keeps what all attempts cost', async () => {
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
    })
  })

  test('that never fits fails with what was wrong', async () => {
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

  test('with an input that does not fit is not retried', async () => {
    const wrong = procedure({ name: 'wrong' }, (ctx) => ctx.agent(writer, { topic: 5 as unknown as string }))
    await using engine = await testEngine({ procedures: [wrong] })
    await expect((await engine.run(wrong)).result()).rejects.toMatchObject({
      cause: { details: { attempts: 1, cause: { code: 'input-invalid' } } },
    })
    expect(engine.calls).toEqual({})
  })

  test('gets an input of its own: what it does to it nobody else sees', async () => {
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

  test('may be renamed, and takes the options of a step over its own', async () => {
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

describe('a decision', () => {
  const judge = decider('judge', async () => fail())
  type Options = {
    readonly minConfidence?: number
    readonly fallback?: unknown
    readonly timeout?: string
    readonly attempts?: number
  }
  const decide = procedure({ name: 'decide', input: z.any() }, (ctx, options: Options | undefined) =>
    ctx.agent.decide('Plausible?', ['go', { value: 'stop', label: 'Stop it' }], {
      agent: judge,
      material: { n: 5 },
      fallback: 'stop',
      ...(options as object),
    }),
  )
  const hang = (): Promise<never> => new Promise(() => {})

  test('is made by the agent, with rationale, confidence and usage', async () => {
    const seen: Question[] = []
    await using engine = await testEngine({
      procedures: [decide],
      agents: {
        judge: (question: Question, { usage }: AgentCall) => {
          seen.push(question)
          usage({ model: 'big' })
          return { choice: 'go', rationale: 'looks fine', confidence: 0.9 }
        },
      },
    })
    await engine.crash('every')
    const run = await engine.run(decide, { minConfidence: 0.9 })
    expect(await run.result()).toEqual({
      choice: 'go',
      source: 'agent',
      why: 'decided',
      rationale: 'looks fine',
      confidence: 0.9,
      by: 'agent:judge',
    })
    expect(seen).toEqual([{ question: 'Plausible?', choices: ['go', 'stop'], material: { n: 5 } }])
    expect((await engine.log(run.id)).execution_log).toMatchObject([
      {
        type: 'ail_decision',
        name: 'decide',
        status: 'done',
        result: {
          choice: 'go',
          source: 'agent',
          why: 'decided',
          rationale: 'looks fine',
          confidence: 0.9,
          by: 'agent:judge',
          usage: [{ model: 'big' }],
          responded_at: '2026-01-01T00:00:00.000Z',
          timed_out: false,
        },
      },
    ])
  })

  test("is made by the engine's decider when none is named", async () => {
    const plain = procedure({ name: 'plain' }, (ctx) =>
      ctx.agent.decide('Which?', ['a', 'b'], { fallback: 'a' }),
    )
    const engineWide = decider('wide', async () => ({ choice: 'b', rationale: 'why not' }))
    await using engine = await testEngine({ procedures: [plain], decider: engineWide })
    expect(await (await engine.run(plain)).result()).toMatchObject({
      choice: 'b',
      by: 'agent:wide',
      confidence: undefined,
    })
    await using without = await testEngine({ procedures: [plain] })
    await expect((await without.run(plain)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })

  interface Fault {
    readonly what: string
    readonly why: Decision<string>['why']
    readonly verdict: () => unknown
    readonly options?: Options
    readonly calls: number
    readonly rationale: string
  }
  const faults: readonly Fault[] = [
    { what: 'throws', why: 'failed', verdict: () => fail('no power'), calls: 2, rationale: 'no power' },
    {
      what: 'hangs',
      why: 'timed-out',
      verdict: hang,
      options: { timeout: '5s', attempts: 1 },
      calls: 1,
      rationale: 'the attempt timed out',
    },
    {
      what: 'answers outside the choices',
      why: 'invalid',
      verdict: () => ({ choice: 'maybe', rationale: '' }),
      calls: 2,
      rationale: 'choice',
    },
    {
      what: 'gives no rationale',
      why: 'invalid',
      verdict: () => ({ choice: 'go' }),
      calls: 2,
      rationale: 'rationale',
    },
    {
      what: 'is too sure',
      why: 'invalid',
      verdict: () => ({ choice: 'go', rationale: '', confidence: 7 }),
      calls: 2,
      rationale: 'confidence',
    },
    {
      what: 'returns nothing',
      why: 'invalid',
      verdict: () => undefined,
      calls: 2,
      rationale: 'not an object',
    },
    {
      what: 'is unsure',
      why: 'unsure',
      verdict: () => ({ choice: 'go', rationale: 'hm', confidence: 0.7 }),
      options: { minConfidence: 0.8 },
      calls: 1,
      rationale: 'hm',
    },
    {
      what: 'does not say how sure it is',
      why: 'unsure',
      verdict: () => ({ choice: 'go', rationale: 'hm' }),
      options: { minConfidence: 0.1 },
      calls: 1,
      rationale: 'hm',
    },
  ]

  describe.each(faults)('when the agent $what', ({ why, verdict, options, calls, rationale }) => {
    test('falls back to the choice, and says why', async () => {
      await using engine = await testEngine({ procedures: [decide], agents: { judge: verdict } })
      const run = await engine.run(decide, { ...options })
      expect(await run.result()).toMatchObject({
        choice: 'stop',
        source: 'fallback',
        why,
        rationale: expect.stringContaining(rationale),
        by: 'policy:fallback',
      })
      expect(engine.calls).toEqual({ judge: calls })
    })

    test('asks people, who see why', async () => {
      await using engine = await testEngine({
        procedures: [decide],
        agents: { judge: verdict },
        humans: [
          { ask: 'Plausible?', answer: { choice: 'go', comment: 'I checked' }, after: '5m', as: 'user:ana' },
        ],
      })
      await engine.crash('every')
      const run = await engine.run(decide, { ...options, fallback: { ask: { to: 'group:ops' } } })
      expect(await run.result()).toMatchObject({
        choice: 'go',
        source: 'person',
        why,
        rationale: 'I checked',
        by: 'user:ana',
      })
      expect(engine.calls).toEqual({ judge: calls })
      expect((await engine.inbox.list({ status: 'answered' })).items).toMatchObject([
        {
          kind: 'decide',
          message: 'Plausible?',
          artifact: { n: 5 },
          to: ['group:ops'],
          choices: [{ value: 'go' }, { value: 'stop', label: 'Stop it' }],
        },
      ])
      expect((await engine.log(run.id)).execution_log).toMatchObject([
        { position: 0, type: 'ail_decision', status: 'done', result: { source: 'person', why } },
      ])
    })

    test('fails the operation, with the reason', async () => {
      await using engine = await testEngine({ procedures: [decide], agents: { judge: verdict } })
      const run = await engine.run(decide, { ...options, fallback: { fail: 'nobody could tell' } })
      await expect(run.result()).rejects.toMatchObject({
        details: { cause: { code: 'step-failed' } },
        cause: {
          details: {
            cause: { message: expect.stringMatching(new RegExp(`nobody could tell.*${why}.*${rationale}`)) },
          },
        },
      })
    })
  })

  test('is not attempted again after a FinalError', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: {
        judge: () => {
          throw new FinalError('no such model')
        },
      },
    })
    expect(await (await engine.run(decide, { attempts: 5 })).result()).toMatchObject({
      why: 'failed',
      rationale: 'no such model',
    })
    expect(engine.calls).toEqual({ judge: 1 })
  })

  test('with more to say than can be kept is invalid', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: { choice: 'go', rationale: 'x'.repeat(3_000_000) } },
    })
    expect(await (await engine.run(decide)).result()).toMatchObject({ choice: 'stop', why: 'invalid' })
  })

  test('waits between its attempts, and a crash does not begin the count anew', async () => {
    const attempts: number[] = []
    await using engine = await testEngine({
      procedures: [decide],
      agents: {
        judge: (_: Question, { attempt }: AgentCall) => {
          attempts.push(attempt)
          return attempt < 3 ? fail() : { choice: 'go', rationale: 'third time' }
        },
      },
    })
    await engine.crash('every')
    expect(await (await engine.run(decide, { attempts: 4 })).result()).toMatchObject({
      choice: 'go',
      why: 'decided',
    })
    expect(attempts).toEqual([1, 2, 3])
  })

  test('left to people gives them the whole timeout, however long the agent took', async () => {
    const hanging = decider('hanging', (_, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.agent.decide('Plausible?', ['go', 'stop'], {
        agent: hanging,
        fallback: { ask: { timeout: '2m' } },
      }),
    )
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: 'Plausible', answer: { choice: 'go' }, after: '90s' }],
    })
    expect(await (await engine.run(asking)).result()).toMatchObject({ choice: 'go', source: 'person' })
  })

  test('left to people is an open ask like any other, with a timeout of its own', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: fail },
      humans: [{ ask: /./, answer: 'silence' }],
    })
    const run = await engine.run(decide, { fallback: { ask: { timeout: '10m', key: 'verdict' } } })
    await engine.advance('5m')
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [{ kind: 'ask', ask: `${run.id}/0` }],
    })
    expect(await engine.inbox.next()).toMatchObject({
      kind: 'decide',
      key: 'verdict',
      onTimeout: 'the procedure gets an error',
    })
    await expect(run.result()).rejects.toMatchObject({ details: { cause: { code: 'ask-timed-out' } } })
    const { endedAt } = await run.status()
    expect(endedAt?.getTime()).toBeGreaterThanOrEqual(start + 10 * minute)
  })

  test('may be answered by a person before the agent has given up', async () => {
    const keyed = procedure({ name: 'keyed' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.agent.decide('Plausible?', ['go', 'stop'], {
        agent: judge,
        key: 'verdict',
        fallback: { ask: {} },
      })
    })
    await using engine = await testEngine({ procedures: [keyed] })
    await engine.crash('every')
    const run = await engine.run(keyed)
    await engine.inbox.answer({ run: run.id, key: 'verdict' }, { choice: 'stop' }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({
      choice: 'stop',
      source: 'person',
      why: 'failed',
      by: 'user:ana',
    })
  })

  test('cannot be answered by an agent', async () => {
    await using engine = await testEngine({ procedures: [decide], agents: { judge: fail } })
    await engine.run(decide, { fallback: { ask: {} } })
    const ask = await engine.inbox.next()
    await expect(engine.inbox.answer(ask.id, { choice: 'go' }, { as: 'agent:judge' })).rejects.toMatchObject({
      code: 'answer-forbidden',
    })
  })

  test.each([
    ['no fallback', { fallback: undefined }],
    ['a fallback outside the choices', { fallback: 'maybe' }],
    ['a confidence above 1', { minConfidence: 2 }],
  ])('with %s is refused in the call', async (_, options) => {
    await using engine = await testEngine({ procedures: [decide] })
    await expect((await engine.run(decide, options)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})
