import type { StepCall } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { refundOrders } from '../src/refund.ts'

const book = {
  orders: [
    { id: 'A-1001', card: 'visa', amount: 24.9, reason: 'arrived broken' },
    { id: 'A-1002', card: 'amex', amount: 480, reason: 'never arrived' },
  ],
  bad: [],
}

/** In place of the bank: the idempotency key of each payment. */
function keepPayments() {
  const keys: string[] = []
  return { keys, pay: ({ idempotencyKey }: StepCall): void => void keys.push(idempotencyKey) }
}

test('a large order is paid with the amount that a person allowed, once, whatever crashes', async () => {
  const { keys, pay } = keepPayments()
  await using engine = await testEngine({
    procedures: [refundOrders],
    steps: { 'read the order book': book, 'refund *': pay },
    strict: true,
    humans: [{ ask: 'Refund 480 EUR', answer: { approved: true, params: { amount: 400 } }, after: '50m' }],
  })
  await engine.crash('every')
  const run = await engine.run(refundOrders, { book: 'orders.csv' })
  expect(await run.result()).toEqual({ refunded: ['A-1001', 'A-1002'], declined: [], badLines: 0 })
  expect(engine.calls).toEqual({ 'read the order book': 1, 'refund A-1001': 1, 'refund A-1002': 1 })
  expect(new Set(keys).size).toBe(2)
})

test('a large order that a person declines is not paid', async () => {
  const { keys, pay } = keepPayments()
  await using engine = await testEngine({
    procedures: [refundOrders],
    steps: { 'read the order book': book, 'refund *': pay },
    strict: true,
    humans: [{ ask: 'Refund 480 EUR', answer: { approved: false } }],
  })
  const run = await engine.run(refundOrders, { book: 'orders.csv' })
  expect(await run.result()).toMatchObject({ declined: ['A-1002'] })
  expect(keys).toHaveLength(1)
})
