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
  test('types the input and the output of an agent by its schemas', () => {
    expectTypeOf(writer).toEqualTypeOf<
      Agent<{ topic: string; tone?: 'dry' | 'warm' | undefined }, { text: string; mood: 'glad' | 'sad' }>
    >()
    expectTypeOf(ctx.agent(writer, { topic: 'x' })).toEqualTypeOf<
      Promise<{ text: string; mood: 'glad' | 'sad' }>
    >()
    ctx.agent(writer, { topic: 'x', tone: 'warm' }, { name: 'second draft', retry: false })
  })

  test('types a decider by question and verdict', () => {
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
  test('types the result of decide by its choices', () => {
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
