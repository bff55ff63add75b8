import { expect, test } from 'vitest'
import { killOrders } from './support/kill/kill-orders.ts'

// All of them in the long form.
test('a worker killed before or after some of its transactions leaves a run that the next one finishes', async () => {
  expect(await killOrders('before', 2, 4)).toBeGreaterThan(1)
  expect(await killOrders('after', 3, 4)).toBeGreaterThan(1)
})
