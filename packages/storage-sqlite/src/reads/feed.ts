import { type FeedPage, type FeedRow, hiddenState, showFeedEntry } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type ReadFeed = (after: number, limit: number) => FeedPage

export function prepareReadFeed(database: Database): ReadFeed {
  const read = database.prepare<[number, number], FeedRow>(
    `select n, at, kind, feed.run, position, id from feed join runs on runs.run = feed.run
     where n > ? and state <> ${hiddenState} order by n limit ?`,
  )
  const readOldest = database.prepare<[], number | null>('select min(n) from feed').pluck()
  const readNewest = database.prepare<[], number | null>('select max(n) from feed').pluck()
  return (after, limit) => ({
    entries: read.all(after, limit).map(showFeedEntry),
    oldest: readOldest.get() ?? 0,
    newest: readNewest.get() ?? 0,
  })
}
