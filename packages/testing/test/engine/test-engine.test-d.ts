// oxlint-disable typescript/no-floating-promises -- nothing here is run
// biome-ignore-all lint/complexity/noBannedTypes: no signals are {}
import { type Ask, agent, type Engine, procedure, type RunHandle } from '@pawl/core'
import { memory, type Person, type TestEngine, testEngine } from '@pawl/testing'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

declare const engine: TestEngine & AsyncDisposable

const order = procedure(
  { name: 'order', input: z.object({ id: z.string() }), signals: { paid: z.object({ cents: z.number() }) } },
  async () => 'done' as const,
)
const hello = procedure({ name: 'hello' }, async () => 1)
const procedures = [order, hello]
const judge = agent(
  { name: 'judge', input: z.string(), output: z.object({ fair: z.boolean() }) },
  async () => ({ fair: true }),
)

describe('testEngine', () => {
  test('needs procedures, of any types, and nothing else', () => {
    expectTypeOf(testEngine({ procedures })).toEqualTypeOf<Promise<TestEngine & AsyncDisposable>>()
    // @ts-expect-error without procedures there is nothing to test
    testEngine({})
    // @ts-expect-error
    testEngine()
    // @ts-expect-error
    testEngine({ procedures: order })
    // @ts-expect-error an agent is no procedure
    testEngine({ procedures: [judge] })
  })

  test('takes what createEngine takes', () => {
    testEngine({ procedures, store: memory(), concurrency: 1, lease: '10s', determinism: 'error' })
    testEngine({ procedures, escalateTo: 'group:ops' })
    // @ts-expect-error
    testEngine({ procedures, lease: '10 parsecs' })
    // @ts-expect-error a store is made by memory()
    testEngine({ procedures, store: 'memory' })
    // @ts-expect-error
    testEngine({ procedures, determinism: 'sometimes' })
    // @ts-expect-error
    testEngine({ procedures, retries: 3 })
  })

  test('takes a beginning, a seed, and a way to replay', () => {
    testEngine({ procedures, now: new Date(0), seed: 7, replay: 'always' })
    // @ts-expect-error not the text of a date
    testEngine({ procedures, now: '2026-01-01' })
    // @ts-expect-error nor ms
    testEngine({ procedures, now: 0 })
    // @ts-expect-error
    testEngine({ procedures, seed: 'seven' })
    // @ts-expect-error
    testEngine({ procedures, replay: 'never' })
  })

  test('takes doubles by name: a result, or a function', () => {
    testEngine({ procedures, steps: { charge: { ok: true }, refund: () => 1, 'look up': null } })
    testEngine({ procedures, agents: { judge: { fair: false }, other: async (text: string) => text } })
    // @ts-expect-error
    testEngine({ procedures, steps: 'charge' })
    testEngine({ procedures, steps: { 'delete *': 1 }, strict: true })
    // @ts-expect-error
    testEngine({ procedures, strict: 'yes' })
    // @ts-expect-error
    testEngine({ procedures, doubles: {} })
  })
})

describe('people', () => {
  test('are found by a part of the message, a pattern, or a question', () => {
    testEngine({
      procedures,
      humans: [
        { ask: 'Refund', answer: { approved: true } },
        { ask: /refund/i, answer: { approved: false, comment: 'no' } },
        { ask: (ask) => ask.kind === 'input', answer: { value: 3 } },
      ],
    })
    const person: Person = {
      ask: (ask) => {
        expectTypeOf(ask).toEqualTypeOf<Ask>()
        return true
      },
      answer: 'silence',
    }
    engine.humans(person, person)
    // @ts-expect-error
    engine.humans({ answer: { approved: true } })
    // @ts-expect-error
    engine.humans({ ask: 5, answer: { approved: true } })
    // @ts-expect-error not the text of the ask, but whether it is the one
    engine.humans({ ask: (ask) => ask.message, answer: { approved: true } })
    // @ts-expect-error one after the other, not a list
    engine.humans([person])
  })

  test('give the answers people can give, keep silent, or look at the ask first', () => {
    engine.humans({ ask: '', answer: { approved: true, params: { amount: 1 }, comment: 'less' } })
    engine.humans({ ask: '', answer: { choice: 'later', artifact: 'text' } })
    engine.humans({ ask: '', answer: 'silence' })
    engine.humans({
      ask: '',
      answer: (ask) => {
        expectTypeOf(ask).toEqualTypeOf<Ask>()
        return { value: ask.message }
      },
    })
    // @ts-expect-error
    engine.humans({ ask: '' })
    // @ts-expect-error
    engine.humans({ ask: '', answer: true })
    // @ts-expect-error
    engine.humans({ ask: '', answer: 'yes' })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approve: true } })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approved: 'yes' } })
    // @ts-expect-error only a yes has params
    engine.humans({ ask: '', answer: { approved: false, params: {} } })
    // @ts-expect-error who looks has to answer
    engine.humans({ ask: '', answer: () => 'silence' })
    // @ts-expect-error at once, or `after`
    engine.humans({ ask: '', answer: async () => ({ approved: true }) })
  })

  test('take their time, and have a name', () => {
    engine.humans({ ask: '', answer: { approved: true }, after: '3d', as: 'user:ana' })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approved: true }, after: 3 })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approved: true }, after: 'soon' })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approved: true }, as: 'ana' })
    // @ts-expect-error
    engine.humans({ ask: '', answer: { approved: true }, by: 'user:ana' })
  })
})

describe('a test engine', () => {
  test('is an engine, with the types of its procedures', () => {
    expectTypeOf(engine).toExtend<Engine>()
    expectTypeOf(engine.run(hello)).toEqualTypeOf<Promise<RunHandle<number, {}>>>()
    engine.run(order, { id: 'a' })
    // @ts-expect-error
    engine.run(order, { id: 1 })
    // @ts-expect-error
    engine.get(order, 'a').signal('paid', {})
  })

  test('lets time pass, crashes, and counts', () => {
    engine.advance('30d')
    engine.crash()
    engine.crash('now')
    engine.crash('every')
    expectTypeOf(engine.calls).toEqualTypeOf<{ readonly [step: string]: number }>()
    expectTypeOf(engine[Symbol.asyncDispose]).toBeFunction()
    // @ts-expect-error
    engine.advance(30)
    // @ts-expect-error
    engine.crash('never')
    // @ts-expect-error what it has counted is not for tests to change
    engine.calls['charge'] = 0
  })
})
