import {
  type AgentCall,
  agent,
  createClient,
  createEngine,
  type Decision,
  decider,
  FinalError,
  procedure,
  type Question,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail, minute, start } from './support.ts'

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
      rationale: 'must be { choice',
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
    await expect(run.result()).rejects.toMatchObject({
      details: {
        cause: {
          code: 'ask-timed-out',
          message: expect.stringContaining('a decision says nothing else of silence'),
        },
      },
    })
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

  test('that people were asked for is theirs, whatever the code says by then counts instead', async () => {
    const version = (fallback: 'stop' | { readonly ask: object } | { readonly fail: string }) =>
      procedure({ name: 'changing' }, (ctx) =>
        ctx.agent.decide('Plausible?', ['go', 'stop'], { agent: unsure, minConfidence: 0.9, fallback }),
      )
    const unsure = decider('unsure', async (_, { usage }) => {
      usage({ costUsd: 1 })
      return { choice: 'stop', rationale: 'hm', confidence: 0.4 }
    })
    const store = memory()
    for (const fallback of ['stop', { ask: { timeout: '1d' } }, { fail: 'never' }] as const)
      for (const answerFirst of [true, false]) {
        const before = await createEngine({ store, procedures: [version({ ask: {} })] })
        const run = await before.run(version({ ask: {} }))
        const { id } = await before.inbox.next({ run: run.id })
        await before.stop()
        const client = createClient({ store })
        if (answerFirst) await client.inbox.answer(id, { choice: 'go' }, { as: 'user:ana' })
        const after = await createEngine({ store, procedures: [version(fallback)] })
        if (!answerFirst) await client.inbox.answer(id, { choice: 'go' }, { as: 'user:ana' })
        expect(await client.get(run.id).result({ timeout: '5s' })).toMatchObject({
          choice: 'go',
          source: 'person',
          by: 'user:ana',
        })
        await after.stop()
        await client.stop()
      }
  })

  test('by a person has the words of the person; those of the agent stand beside them in the log', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: {
        judge: (_: Question, { usage }: AgentCall) => {
          usage({ costUsd: 1 })
          return { choice: 'stop', rationale: 'Too many.', confidence: 0.4 }
        },
      },
      humans: [{ ask: 'Plausible?', answer: { choice: 'go' }, as: 'user:ana' }],
    })
    const run = await engine.run(decide, { minConfidence: 0.9, fallback: { ask: {} } })
    expect(await run.result()).toMatchObject({ rationale: '', confidence: undefined, by: 'user:ana' })
    const [entry] = (await engine.log(run.id)).execution_log
    expect(entry?.result).toMatchObject({
      rationale: '',
      by: 'user:ana',
      usage: [{ costUsd: 1 }],
      judged: { choice: 'stop', rationale: 'Too many.', confidence: 0.4 },
    })
  })

  test('by an agent with schemas is held to them, like any call to it', async () => {
    const strict = agent(
      {
        name: 'strict',
        input: z.object({
          question: z.string(),
          choices: z.array(z.string()).readonly(),
          material: z.object({ total: z.number() }),
        }),
        output: z.object({
          choice: z.string().toLowerCase(),
          rationale: z.string().min(3),
          confidence: z.number().default(1),
        }),
      },
      async ({ material }) => ({ choice: 'GO', rationale: material.total > 0 ? 'enough' : '' }),
    )
    const deciding = procedure({ name: 'deciding', input: z.any() }, (ctx, material) =>
      ctx.agent.decide('Plausible?', ['go', 'stop'], {
        agent: strict as never,
        material,
        fallback: 'stop',
        minConfidence: 0.9,
      }),
    )
    await using engine = await testEngine({ procedures: [deciding] })
    const decided = async (material: unknown) => (await engine.run(deciding, material)).result()
    expect(await decided({ total: 1 })).toMatchObject({ choice: 'go', why: 'decided' })
    expect(await decided({ total: 0 })).toMatchObject({
      choice: 'stop',
      why: 'invalid',
      rationale: expect.stringContaining('rationale: '),
    })
    expect(await decided({ total: 'none' })).toMatchObject({
      choice: 'stop',
      why: 'failed',
      rationale: expect.stringContaining('does not fit its input schema: material.total'),
    })
  })

  test('is invalid where reading it throws', async () => {
    const verdict = {
      get choice(): string {
        throw new Error('gone')
      },
      rationale: '',
    }
    await using engine = await testEngine({ procedures: [decide], agents: { judge: () => verdict } })
    expect(await (await engine.run(decide)).result()).toMatchObject({
      why: 'invalid',
      rationale: expect.stringContaining('gone'),
    })
  })

  test('is held to the shape of a verdict, whatever the schema of its agent lets through', async () => {
    const returned: unknown[] = [
      5,
      { choice: 'go' },
      { choice: 'go', rationale: '', confidence: 7 },
      {
        get choice(): string {
          throw new Error('gone')
        },
        rationale: '',
      },
    ]
    const lax = agent(
      { name: 'lax', input: z.any(), output: z.any() },
      async ({ material }) => returned[material],
    )
    const deciding = procedure({ name: 'deciding', input: z.number() }, (ctx, material) =>
      ctx.agent.decide('Plausible?', ['go', 'stop'], { agent: lax, material, fallback: 'stop', attempts: 1 }),
    )
    await using engine = await testEngine({ procedures: [deciding] })
    for (const index of returned.keys())
      expect(await (await engine.run(deciding, index)).result()).toMatchObject({
        choice: 'stop',
        why: 'invalid',
      })
  })

  test('with as much to show as there may be is asked of people all the same', async () => {
    const loaded = procedure({ name: 'loaded' }, async (ctx) => {
      for (let i = 0; i < 5; i++) await ctx.step('notes', () => 'n'.repeat(6_000))
      return ctx.agent.decide('Plausible?', ['go', 'stop'], {
        agent: judge,
        material: 'm'.repeat(2_096_900),
        minConfidence: 0.9,
        fallback: { ask: {} },
      })
    })
    await using engine = await testEngine({
      procedures: [loaded],
      agents: { judge: { choice: 'go', rationale: '\u20ac'.repeat(99_000) } },
      humans: [{ ask: 'Plausible?', answer: { choice: 'go' } }],
    })
    expect(await (await engine.run(loaded)).result()).toMatchObject({ source: 'person', rationale: '' })
  })

  test('that nobody makes costs what its attempts have cost', async () => {
    const judging = {
      judge: (_: Question, { usage, attempt }: AgentCall) => {
        usage({ inputTokens: attempt })
        return fail()
      },
    }
    for (const fallback of [{ fail: 'nobody' }, { ask: { timeout: '1m' } }] as const) {
      await using engine = await testEngine({
        procedures: [decide],
        agents: judging,
        humans: [{ ask: /./, answer: 'silence' }],
      })
      const run = await engine.run(decide, { fallback })
      await expect(run.result()).rejects.toThrow()
      expect((await engine.log(run.id)).execution_log).toMatchObject([
        { status: 'failed', result: { usage: [{ inputTokens: 1 }, { inputTokens: 2 }] } },
      ])
    }
  })

  test('that failed for good at once is said to have been tried once', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: { choice: 'go', rationale: 'hm', confidence: 0.1 } },
    })
    const run = await engine.run(decide, { minConfidence: 0.9, fallback: { fail: 'nobody' }, attempts: 5 })
    await expect(run.result()).rejects.toThrow("No decision was made on 'Plausible?' after 1 attempt")
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
