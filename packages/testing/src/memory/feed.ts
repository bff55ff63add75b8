import { type FeedKind, type FeedPage, feedKeptMs } from '@pawl/core/storage'
import type { RunRecord, Tables } from './tables.ts'

/** Adds an entry to the feed. */
export function tell(
  { feed }: Tables,
  kind: FeedKind,
  run: RunRecord,
  position: number | null,
  at: number,
): void {
  feed.push({ n: (feed.at(-1)?.n ?? 0) + 1, at, kind, run: run.id, runKey: run.run, position })
}

/** Reads the entries after a number. */
export function readFeed({ feed, runsByKey }: Tables, after: number, limit: number): FeedPage {
  const [oldest, newest] = [feed[0]?.n ?? 0, feed.at(-1)?.n ?? 0]
  const entries = feed.slice(Math.max(0, after + 1 - oldest)).filter(({ runKey }) => runsByKey.has(runKey))
  return { entries: entries.slice(0, limit), oldest, newest }
}

/** Deletes expired entries except the newest one. */
export function trimFeed({ feed }: Tables, now: number): void {
  const kept = feed.findIndex(({ at }) => at >= now - feedKeptMs)
  feed.splice(0, kept === -1 ? Math.max(0, feed.length - 1) : kept)
}
