import { type AgentCall, createClient, createEngine, decider, procedure, type Question } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { decide, judge } from './decide.ts'
import { fail, minute, start } from './support.ts'

describe('a decision left to people', () => {
  test('the timeout of an ask starts when the agent has given up', async () => {
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

  test('a decision left to people is an open ask with its own timeout', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: fail },
      humans: [{ ask: /./, answer: 'silence' }],
    })
    const run = await engine.run(decide, { fallback: { ask: { timeout: '10m', key: 'verdict' } } })
    await engine.advance('5m')
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [{ kind: 'ask', ask: (await engine.inbox.next()).id }],
    })
    expect(await engine.inbox.next()).toMatchObject({
      kind: 'decide',
      key: 'verdict',
      onTimeout: 'the procedure receives an error',
    })
    await expect(run.result()).rejects.toMatchObject({
      details: {
        cause: {
          code: 'ask-timed-out',
          message: expect.stringContaining('a decision has no `onTimeout`'),
        },
      },
    })
    const { endedAt } = await run.status()
    expect(endedAt?.getTime()).toBeGreaterThanOrEqual(start + 10 * minute)
  })

  test('a person may answer before the agent has given up', async () => {
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

  test('an open ask decides even if the code has another fallback by then', async () => {
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
        expect(await client.get(run.id).result()).toMatchObject({
          choice: 'go',
          source: 'person',
          by: 'user:ana',
        })
        await after.stop()
        await client.stop()
      }
  })

  test("the rationale is the person's, and the log keeps the agent's beside it", async () => {
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

  test('people are asked even if the material is as large as it may be', async () => {
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

  test('an agent cannot answer the ask', async () => {
    await using engine = await testEngine({ procedures: [decide], agents: { judge: fail } })
    await engine.run(decide, { fallback: { ask: {} } })
    const ask = await engine.inbox.next()
    await expect(engine.inbox.answer(ask.id, { choice: 'go' }, { as: 'agent:judge' })).rejects.toMatchObject({
      code: 'answer-forbidden',
    })
  })
})
