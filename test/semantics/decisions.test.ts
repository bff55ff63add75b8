import { type AgentCall, agent, decider, FinalError, procedure, type Question } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decide } from './decide.ts'
import { fail } from './support.ts'

describe('a decision', () => {
  test('the decision is made by the agent, with rationale, confidence and usage', async () => {
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

  test("the engine's decider makes a decision that names no agent", async () => {
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

  test('the schemas of the agent are applied to question and verdict', async () => {
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
      rationale: expect.stringContaining('does not match its schema: material.total'),
    })
  })

  test('a FinalError ends the attempts', async () => {
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

  test('attempts wait for each other, and a crash does not restart their count', async () => {
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

  test('a verdict too large to record is invalid', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: { choice: 'go', rationale: 'x'.repeat(3_000_000) } },
    })
    expect(await (await engine.run(decide)).result()).toMatchObject({ choice: 'stop', why: 'invalid' })
  })

  test('a verdict that throws when read is invalid', async () => {
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

  test('a verdict of the wrong shape is invalid even if the schema of the agent allows it', async () => {
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

  test.each([
    ['no fallback', { fallback: undefined }],
    ['a fallback outside the choices', { fallback: 'maybe' }],
    ['a confidence above 1', { minConfidence: 2 }],
  ])('%s is refused in the call', async (_, options) => {
    await using engine = await testEngine({ procedures: [decide] })
    await expect((await engine.run(decide, options)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})
