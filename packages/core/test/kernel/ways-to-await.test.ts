import { describe, expect, test } from 'vitest'
import { inEveryOrder } from './support/everywhere.ts'
import { waysToAwait } from './support/ways-to-await.ts'

describe('replay at once and after a crash behind every event, in every order', () => {
  test.each(Object.entries(waysToAwait))(
    'replays at once and after a crash behind every event, in every order: %s',
    async (_, procedure) => {
      const lives = await inEveryOrder(procedure, 24)
      expect(lives.length).toBeGreaterThan(0)
    },
  )
})
