import { expect, test } from 'vitest'
import { checkReplay, uphold } from './support/laws.ts'

test('replays 5,000 programs at once and after a crash at any event', async () => {
  const ends = { completed: 0, failed: 0 }
  let issued = 0
  const replay = {
    shared: true,
    async check(given: Parameters<typeof checkReplay>[0]) {
      const { trial } = await checkReplay(given)
      ends[trial.decision?.state as 'completed' | 'failed']++
      issued += trial.issued.length
    },
  }
  await uphold(replay, 5_000)
  // That they are no trivial ones.
  expect(ends.completed).toBeGreaterThan(1_250)
  expect(ends.failed).toBeGreaterThan(500)
  expect(issued).toBeGreaterThan(25_000)
})
