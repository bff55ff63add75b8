import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import * as ai from 'ai'
import { expect, test } from 'vitest'
import { durableModel } from '../src/index.ts'
import { Mock, reply, streamed, text } from './support/models.ts'
import { lives, play } from './support/play.ts'

const recorded = { inputTokens: 10, outputTokens: 3, cachedTokens: 2, reasoningTokens: 1 }

test.each(lives)('the log has the usage of a call, and the model that answered: %s', async (life) => {
  const model = new Mock({
    provider: 'mock',
    modelId: 'asked',
    doGenerate: async () => reply([text('hello')], { response: { modelId: 'answered' } }),
  })
  const { log } = await play(
    async (ctx) => (await ai.generateText({ model: durableModel(ctx, model), prompt: 'x' })).text,
    life,
  )
  expect(log).toMatchObject([
    { type: 'llm', name: 'mock/asked', result: { usage: [{ model: 'answered', ...recorded }] } },
  ])
})

test('the log has the usage of a stream', async () => {
  const model = new Mock({ provider: 'mock', modelId: 'm', doStream: async () => streamed([text('hello')]) })
  const { log } = await play(async (ctx) => {
    const { textStream } = ai.streamText({ model: durableModel(ctx, model, { name: 'greet' }), prompt: 'x' })
    let read = ''
    for await (const part of textStream) read += part
    return read
  })
  expect(log).toMatchObject([
    { type: 'llm', name: 'greet', result: { usage: [{ model: 'm', ...recorded }] } },
  ])
})

test('the log has the usage of every attempt', async () => {
  let attempt = 0
  const model = new Mock({
    provider: 'mock',
    modelId: 'm',
    doStream: async () => {
      attempt += 1
      if (attempt === 1) throw new Error('broken before the first part')
      return streamed([text('hello')])
    },
  })
  const { log } = await play(async (ctx) => {
    const { textStream } = ai.streamText({ model: durableModel(ctx, model), prompt: 'x' })
    for await (const _ of textStream);
  })
  expect(attempt).toBe(2)
  expect(log).toMatchObject([{ type: 'llm', result: { usage: [{ model: 'm', ...recorded }] } }])
})

test('a stream that reports an error is retried from its start', async () => {
  let attempt = 0
  const model = new Mock({
    provider: 'mock',
    modelId: 'm',
    doStream: async () => {
      attempt += 1
      const error = { type: 'error', error: new Error('cut off') }
      return streamed(attempt === 1 ? [text('half'), error] : [text('whole')])
    },
  })
  const { result } = await play(async (ctx) => {
    const { textStream } = ai.streamText({ model: durableModel(ctx, model), prompt: 'x' })
    let read = ''
    for await (const part of textStream) read += part
    return read
  })
  expect(result).toBe('whole')
})

test.each(['a call', 'a stream'])(
  'a replay has the id and the time that the first life made up for %s',
  async (what) => {
    const model = new Mock({
      ...{ provider: 'mock', modelId: 'm', doGenerate: async () => reply([text('hello')]) },
      doStream: async () => streamed([text('hello')]),
    })
    const seen: unknown[] = []
    const desk = procedure({ name: 'desk' }, async (ctx) => {
      const asked = { model: durableModel(ctx, model), prompt: 'x' }
      const { id, timestamp } = await (what === 'a call'
        ? (await ai.generateText(asked)).response
        : ai.streamText(asked).response)
      seen.push([id, timestamp.getTime()])
      await ctx.sleep('1d')
    })
    // Otherwise the SDK's own random numbers and times are the same in every replay.
    await using engine = await testEngine({ procedures: [desk], replay: 'always', determinism: 'off' })
    await (await engine.run(desk)).result()
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen.map((entry) => JSON.stringify(entry))).size).toBe(1)
  },
)
