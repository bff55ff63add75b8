import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const refund = procedure(
  {
    name: 'refund',
    input: z.object({ orderId: z.string(), amount: z.number().positive() }),
    output: z.object({ status: z.enum(['refunded', 'declined']), by: z.string().optional() }),
  },
  async (ctx, { orderId, amount }) => {
    const order = await ctx.step('load order', () => ({ card: 'real' }))
    const approval = await ctx.human.approve('Refund {amount} EUR for order {orderId}?', {
      params: { orderId, amount },
      editable: ['amount'],
      risk: 'high',
      timeout: '1h',
      onTimeout: 'escalate',
    })
    if (!approval.approved) return { status: 'declined' }
    await ctx.step('refund', () => `${order.card} ${approval.params.amount}`, { retry: { attempts: 5 } })
    return { status: 'refunded', by: approval.by }
  },
)
const input = { orderId: 'A-1', amount: 45 }
const steps = { 'load order': { card: 'visa' }, refund: undefined }

test('a person lowers the amount after ten minutes, with a crash after every write', async () => {
  await using engine = await testEngine({
    procedures: [refund],
    steps,
    strict: true,
    humans: [
      {
        ask: 'Refund 45 EUR',
        answer: { approved: true, params: { amount: 40 } },
        after: '10m',
        as: 'user:ana',
      },
    ],
  })
  await engine.crash('every')
  const run = await engine.run(refund, input)
  expect(await run.result()).toEqual({ status: 'refunded', by: 'user:ana' })
  expect(engine.calls).toEqual({ 'load order': 1, refund: 1 })
})

test('without an answer for an hour the ask stays open, overdue', async () => {
  await using engine = await testEngine({
    procedures: [refund],
    steps: { 'load order': steps['load order'] },
    strict: true,
    humans: [{ ask: /Refund/, answer: 'silence' }],
  })
  const run = await engine.run(refund, input)
  await engine.advance('61m')
  const { items } = await engine.inbox.list({ run: run.id, overdue: true })
  expect(items).toHaveLength(1)
  await engine.inbox.answer(items[0]!.id, { approved: false, comment: 'too late' }, { as: 'user:bob' })
  expect(await run.result()).toEqual({ status: 'declined' })
})
