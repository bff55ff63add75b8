import { expect, test } from 'vitest'
import { countPayments } from '../src/browser/story.ts'

const payment = { order: 'A-1', card: 'visa', amount: 10.1, key: 'k1' }

test('a request repeated with the same key counts as one payment', () => {
  expect(countPayments([payment, payment], 16)).toEqual({ orders: 1, of: 16, euros: 10.1, twice: 0 })
})

test('an order paid with two keys counts as paid twice', () => {
  const paid = countPayments(
    [payment, { ...payment, key: 'k2' }, { ...payment, order: 'A-2', key: 'k3' }],
    16,
  )
  expect(paid).toEqual({ orders: 2, of: 16, euros: 30.3, twice: 1 })
})
