import { expect, test } from 'vitest'
import { nextRound, RoundLimiter } from '../../src/host/rounds.ts'

test('admits so many callers in each round of the event loop', async () => {
  const limiter = new RoundLimiter(3)
  const rounds: number[] = []
  let round = 0
  // First in each round: begun before anything else.
  const count = (): void => void (round++ < 10 && setImmediate(count))
  count()
  const admitted = Array.from({ length: 8 }, async (_, caller) => {
    await limiter.enter()
    rounds.push(round)
    return caller
  })
  await Promise.all(admitted)
  expect(rounds).toEqual([1, 1, 1, 2, 2, 2, 3, 3])
})

test('admits a caller at once while there is room, and again in the next round', async () => {
  const limiter = new RoundLimiter(1)
  expect(limiter.enter()).toBeUndefined()
  expect(limiter.enter()).toBeInstanceOf(Promise)
  await nextRound()
  await nextRound()
  expect(limiter.enter()).toBeUndefined()
})
