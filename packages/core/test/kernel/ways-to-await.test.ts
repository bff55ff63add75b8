import { describe, expect, test } from 'vitest'
import { inEveryOrder } from './support/everywhere.ts'
import { waysToAwait } from './support/ways-to-await.ts'

describe('live is replayed at once is taken up behind every event, in every order:', () => {
  test.each(Object.entries(waysToAwait))('%s', async (_, procedure) => {
    const lives = await inEveryOrder(procedure, 24)
    expect(lives.length).toBeGreaterThan(0)
  })
})
