import { expect, test } from 'vitest'
import { RetentionChore } from '../../src/worker/retention.ts'

const day = 24 * 60 * 60 * 1_000

/** A chore on a store whose feed has so many old entries. Returns the instants that it was asked to delete up to. */
async function trim(old: number, isWorking: () => boolean = () => true): Promise<readonly number[]> {
  const asked: number[] = []
  const store = {
    now: () => Promise.resolve(30 * day),
    feed: {
      trim(before: number, limit: number) {
        asked.push(before)
        const deleted = Math.min(old, limit)
        old -= deleted
        return Promise.resolve(deleted)
      },
    },
  }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  await new RetentionChore(
    store as never,
    new Map(),
    logger,
    isWorking,
    () => {},
    (bytes) => bytes,
  ).trimFeed()
  return asked
}

test('deletes entries of the feed that are older than 7 days, a part at a time', async () => {
  expect(await trim(0)).toEqual([23 * day])
  expect(await trim(4_500)).toEqual([23 * day, 23 * day, 23 * day])
})

test('leaves the rest of the feed to the next worker once it is stopped', async () => {
  let parts = 0
  expect(await trim(10_000, () => parts++ < 2)).toHaveLength(2)
})
