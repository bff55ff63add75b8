import { type FeedKind, feedCode, feedKeptMs, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

/** Writes the feed, in the transaction that an entry describes. */
export interface FeedWrites {
  tell(kind: FeedKind, run: RunKey, position: number | null, at: number): void
  /** Returns whether the oldest entry has expired. Only reads. */
  isDue(at: number): boolean
  /** Deletes some expired entries, but never the newest one. */
  trim(at: number): void
}

/** Maximum entries deleted in one transaction. */
const trimSize = 1_000

export function prepareFeedWrites(database: Database): FeedWrites {
  const insert = database.prepare('insert into feed (at, kind, run, position) values (?, ?, ?, ?)')
  const readOldest = database
    .prepare<[], number>('select at from feed where n < (select max(n) from feed) order by n limit 1')
    .pluck()
  const trim = database.prepare(
    `delete from feed where n in (
       select n from feed where n < (select max(n) from feed) order by n limit ${trimSize}) and at < ?`,
  )
  return {
    tell: (kind, run, position, at) => void insert.run(at, feedCode.numberOf[kind], run, position),
    isDue: (at) => (readOldest.get() ?? at) < at - feedKeptMs,
    trim: (at) => void trim.run(at - feedKeptMs),
  }
}
