import { type FeedKind, feedCode, feedKeptMs, type RunKey } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'

/** The feed, as it is written: in the transaction that it tells of. */
export interface FeedWrites {
  tell(kind: FeedKind, run: RunKey, position: number | null, at: number): void
  /** Whether the oldest entry is kept no longer. Only reads. */
  isDue(at: number): boolean
  /** Deletes some of the entries that are kept no longer, but never the newest. */
  trim(at: number): void
}

/** Entries that one transaction deletes. */
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
