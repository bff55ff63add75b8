import { type Answer, type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

type Asking = (human: Ctx['human']) => Promise<unknown>

const choices = ['north', 'south'] as const

/** Each kind of ask; what is answered, and what was decided by it. */
const kinds: readonly (readonly [string, Asking, Answer, unknown])[] = [
  ['approve', (human) => human.approve('Pay?'), { approved: false }, false],
  ['input', (human) => human.input('Number?', z.number()), { value: 0 }, 0],
  ['select', (human) => human.select('Where to?', choices), { choice: 'south' }, 'south'],
  ['review', (human) => human.review('Publish?', { text: 'a' }), { choice: 'approve' }, 'approve'],
  ['escalate', (human) => human.escalate('Now?', { choices }), { choice: 'north' }, 'north'],
]

test.each(kinds)('the answer of %s is its value in the execution log', async (_kind, ask, answer, value) => {
  const asking = procedure({ name: 'asking' }, async (ctx) => void (await ask(ctx.human)))
  await using engine = await testEngine({ procedures: [asking], humans: [{ ask: /./, answer }] })
  const run = await engine.run(asking)
  await run.result()
  expect((await engine.log(run.id)).execution_log[0]?.result).toMatchObject({
    value,
    timed_out: false,
    responded_at: expect.any(String),
  })
})

const silences: readonly (readonly [string, Asking, unknown])[] = [
  ['approve', (human) => human.approve('Pay?', { timeout: '1h' }), false],
  ['input', (human) => human.input('Number?', z.number(), { timeout: '1h', onTimeout: { default: 0 } }), 0],
  ['input without a default', (human) => human.input('Number?', z.number(), { timeout: '1h' }), null],
  [
    'select',
    (human) => human.select('Where?', choices, { timeout: '1h', onTimeout: { default: 'north' } }),
    'north',
  ],
]

test.each(silences)('so is the silence of %s', async (_kind, ask, value) => {
  const asking = procedure({ name: 'asking' }, async (ctx) => void (await ask(ctx.human).catch(() => {})))
  await using engine = await testEngine({ procedures: [asking], humans: [{ ask: /./, answer: 'silence' }] })
  const run = await engine.run(asking)
  await run.result()
  expect((await engine.log(run.id)).execution_log[0]?.result).toMatchObject({
    value,
    timed_out: true,
    responded_at: expect.any(String),
  })
})
