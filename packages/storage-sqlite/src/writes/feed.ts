import { type FeedKind, feedCode, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

/** Writes the feed, in the transaction that an entry describes. */
export interface FeedWrites {
  tell(kind: FeedKind, run: RunKey, position: number | null, at: number): void
  /** Returns whether the oldest entry was written before that instant. Only reads. */
  isOlder(before: number): boolean
  trim(before: number, limit: number): number
}

export function prepareFeedWrites(database: Database): FeedWrites {
  const insert = database.prepare('insert into feed (at, kind, run, position) values (?, ?, ?, ?)')
  const readOldest = database
    .prepare<[], number>('select at from feed where n < (select max(n) from feed) order by n limit 1')
    .pluck()
  const trim = database.prepare(
    `delete from feed where n in (
       select n from feed where n < (select max(n) from feed) order by n limit ?) and at < ?`,
  )
  return {
    tell: (kind, run, position, at) => void insert.run(at, feedCode.numberOf[kind], run, position),
    isOlder: (before) => (readOldest.get() ?? before) < before,
    trim: (before, limit) => trim.run(limit, before).changes,
  }
}
