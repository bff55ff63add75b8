import { decider, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'

const critic = decider('critic', async () => ({ choice: 'ok', rationale: 'It reads well', confidence: 1 }))
const options = { agent: critic, fallback: 'bad' } as const

describe('the log of a decision', () => {
  test('has the question and the material; of a large one the beginning and a digest', async () => {
    const large = 'x'.repeat(10_000)
    const review = procedure({ name: 'review' }, async (ctx) => {
      await ctx.agent.decide('Is the text fine?', ['ok', 'bad'], { ...options, material: { text: 'short' } })
      await ctx.agent.decide('Is the book fine?', ['ok', 'bad'], { ...options, material: large })
    })
    await using engine = await testEngine({ procedures: [review] })
    const run = await engine.run(review)
    await run.result()
    const { execution_log: log } = await engine.log(run.id)
    expect(log.map(({ name, result }) => [name, result])).toMatchObject([
      ['decide', { question: 'Is the text fine?', material: { value: { text: 'short' } } }],
      [
        'decide',
        { question: 'Is the book fine?', material: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      ],
    ])
    expect(JSON.stringify(log[1]?.result).length).toBeLessThan(5_000)
  })

  test('the history of a question has decisions, an unnamed one by its question', async () => {
    const publish = procedure({ name: 'publish' }, async (ctx) => {
      await ctx.agent.decide('Is the text fine?', ['ok', 'bad'], options)
      await ctx.agent.decide('Is it legal?', ['ok', 'bad'], { ...options, key: 'legal' })
      await ctx.human.approve('Publish?', { key: 'all' })
      await ctx.human.approve('Sure?', { key: 'one', history: { steps: ['legal'] } })
    })
    await using engine = await testEngine({ procedures: [publish] })
    const run = await engine.run(publish)
    const verdict = { choice: 'ok', rationale: 'It reads well', confidence: 1, by: 'agent:critic' }
    const all = await engine.inbox.next({ run: run.id })
    expect(all.history).toMatchObject([
      { step: 'Is the text fine?', result: verdict },
      { step: 'legal', result: verdict },
    ])
    await engine.inbox.answer(all.id, { approved: true }, { as: 'user:ana' })
    const one = await engine.inbox.next({ run: run.id })
    expect(one.history).toMatchObject([{ step: 'legal', result: verdict }])
  })
})
