// oxlint-disable typescript/no-floating-promises -- nothing here is run
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Agent,
  agent,
  type Ctx,
  type Decision,
  decider,
  type Question,
  type Verdict,
} from '../../../src/index.ts'

declare const ctx: Ctx

const writer = agent(
  {
    name: 'writer',
    input: z.object({ topic: z.string(), tone: z.enum(['dry', 'warm']).default('dry') }),
    output: z.object({ text: z.string(), mood: z.enum(['glad', 'sad']) }),
    retry: { attempts: 2 },
    timeout: '30s',
  },
  async ({ topic, tone }, { usage, signal, idempotencyKey }) => {
    expectTypeOf(tone).toEqualTypeOf<'dry' | 'warm'>()
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    expectTypeOf(idempotencyKey).toEqualTypeOf<string>()
    usage({ model: 'm', inputTokens: 3, costUsd: 0.01 })
    return { text: topic, mood: 'glad' }
  },
)

describe('agents', () => {
  test('are called with what their schema accepts and give what it returns', () => {
    expectTypeOf(writer).toEqualTypeOf<
      Agent<{ topic: string; tone?: 'dry' | 'warm' | undefined }, { text: string; mood: 'glad' | 'sad' }>
    >()
    expectTypeOf(ctx.agent(writer, { topic: 'x' })).toEqualTypeOf<
      Promise<{ text: string; mood: 'glad' | 'sad' }>
    >()
    ctx.agent(writer, { topic: 'x', tone: 'warm' }, { name: 'second draft', retry: false })
  })

  test('that judge take a question and give a verdict', () => {
    const critic = decider('critic', async ({ question, choices, material }) => {
      expectTypeOf(question).toEqualTypeOf<string>()
      expectTypeOf(choices).toEqualTypeOf<readonly string[]>()
      expectTypeOf(material).toBeUnknown()
      return { choice: 'go', rationale: 'fine' }
    })
    expectTypeOf(critic).toEqualTypeOf<Agent<Question, Verdict>>()
  })
})

describe('decide', () => {
  test('gives one of its choices', () => {
    expectTypeOf(
      ctx.agent.decide('Plausible?', ['continue', { value: 'abort', effect: 'stops' }], {
        material: [1],
        minConfidence: 0.8,
        fallback: { ask: { to: 'group:ops', timeout: '4h' } },
      }),
    ).toEqualTypeOf<Promise<Decision<'continue' | 'abort'>>>()
    ctx.agent.decide('Plausible?', ['go', 'stop'], { fallback: 'stop' })
    ctx.agent.decide('Plausible?', ['go', 'stop'], { fallback: { fail: 'the critic is silent' } })
  })
})
