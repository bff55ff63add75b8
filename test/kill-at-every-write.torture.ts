import { expect, test } from 'vitest'
import { killOrders } from './support/kill/kill-orders.ts'

test.each(['before', 'after'] as const)(
  'a worker killed %s any of its transactions leaves a run that the next one finishes',
  async (when) => {
    // Registration, sweeps and claims, and a transaction for each batch of events.
    expect(await killOrders(when)).toBeGreaterThan(10)
  },
)
