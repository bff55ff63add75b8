import { expect, test } from 'vitest'
import { StuckRuns } from '../../src/worker/stuck-runs.ts'
import { ManualClock } from './support/manual-clock.ts'

const claimant = { worker: 1, procedures: [] }

/** Stuck runs of a store that counts the attempts, at a clock. */
function create(retryStuck: () => Promise<number>) {
  const clock = new ManualClock()
  const attempts: number[] = []
  const store = {
    claims: {
      retryStuck: () => {
        attempts.push(clock.elapsed())
        return retryStuck()
      },
    },
  }
  return { stuckRuns: new StuckRuns(store, clock), clock, attempts }
}

test('retries stuck runs at once, then at growing intervals, then no more', async () => {
  const { stuckRuns, clock, attempts } = create(async () => 0)
  for (let second = 0; second < 3 * 3_600; second++) {
    await stuckRuns.retry(claimant)
    await clock.pass(1_000)
  }
  expect(attempts).toEqual([0, 10_000, 70_000, 370_000, 2_170_000])
})

test('retries stuck runs again the next time if the store fails', async () => {
  let isFailing = true
  const { stuckRuns, attempts } = create(async () => {
    if (isFailing) throw new Error('the disk is full')
    return 3
  })
  await expect(stuckRuns.retry(claimant)).rejects.toThrow('the disk is full')
  isFailing = false
  expect(await stuckRuns.retry(claimant)).toBe(3)
  expect(await stuckRuns.retry(claimant)).toBe(0)
  expect(attempts).toHaveLength(2)
})

test('retries stuck runs once, however many calls arrive meanwhile', async () => {
  const { stuckRuns, attempts } = create(async () => 1)
  const counts = await Promise.all([1, 2, 3].map(() => stuckRuns.retry(claimant)))
  expect(counts).toEqual([1, 0, 0])
  expect(attempts).toHaveLength(1)
})
