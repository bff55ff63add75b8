import { procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { keepLines } from './support.ts'

const paid: string[] = []
const pay = (ctx: { step(name: string, body: () => unknown): Promise<unknown> }) =>
  ctx.step('pay', () => paid.push('paid'))

const forgotten = procedure({ name: 'forgotten' }, async (ctx) => {
  void ctx.human.approve('Pay?')
  await pay(ctx)
})
const kept = procedure({ name: 'kept' }, async (ctx) => {
  const answer = ctx.human.approve('Pay?')
  await pay(ctx)
  await answer
})
const raced = procedure({ name: 'raced' }, async (ctx) => {
  const { winner } = await ctx.race({
    asked: (ctx) => ctx.human.approve('Pay?'),
    late: (ctx) => ctx.sleep('1h'),
  })
  return winner
})
const failing = procedure({ name: 'failing' }, async (ctx) => {
  void ctx.human.approve('Pay?').catch(() => {})
  await ctx.step('fail', () => Promise.reject(new Error('no')), { retry: false })
})

const warnings = (lines: readonly { readonly level: string; readonly message: string }[]) =>
  lines
    .filter(({ level, message }) => level === 'warn' && message.includes('question'))
    .map(({ message }) => message)

test('a question that was open and never awaited is warned of at the end, with its place, once', async () => {
  const { logger, lines } = keepLines()
  await using engine = await testEngine({
    procedures: [forgotten],
    humans: [{ ask: /Pay/, answer: 'silence' }],
    logger,
  })
  for (const id of ['pay:1', 'pay:2']) await (await engine.run(forgotten, undefined, { id })).result()
  expect(warnings(lines)).toEqual([
    expect.stringMatching(
      /^Run "pay:1" has ended while its question "approve" at .*unread-questions\.test\.ts:11:\d+ was open, so no answer to it counts\. Add the missing await, or ask it in a branch of ctx\.race$/,
    ),
  ])
})

test('the place is found by a worker that did not begin the run, too', async () => {
  const { logger, lines } = keepLines()
  const store = memory()
  const sleepy = procedure({ name: 'sleepy' }, async (ctx) => {
    void ctx.human.approve('Pay?')
    await ctx.sleep('1h')
  })
  const first = await testEngine({ store, procedures: [sleepy], humans: [{ ask: /Pay/, answer: 'silence' }] })
  const run = await first.run(sleepy, undefined, { id: 'sleepy:1' })
  await first.advance('1m')
  await first.stop()
  await using second = await testEngine({
    ...{ store, procedures: [sleepy], humans: [{ ask: /Pay/, answer: 'silence' }], logger },
    now: new Date('2026-01-01T01:30:00Z'),
  })
  await second.get(sleepy, run.id).result()
  expect(warnings(lines)).toEqual([
    expect.stringMatching(/question "approve" at .*unread-questions\.test\.ts:\d+:\d+/),
  ])
})

test.each([
  ['that is awaited later', kept, { approved: true }],
  ['that lost a race', raced, 'silence'],
  ['of a run that failed', failing, 'silence'],
] as const)('a question %s is not warned of', async (_what, asking, answer) => {
  const { logger, lines } = keepLines()
  await using engine = await testEngine({ procedures: [asking], humans: [{ ask: /Pay/, answer }], logger })
  await (await engine.run(asking as typeof kept)).result().catch(() => {})
  expect(warnings(lines)).toEqual([])
})
