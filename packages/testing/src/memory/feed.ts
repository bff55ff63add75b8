import type { FeedKind, FeedPage } from '@pawl/core/storage'
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

/** Deletes, of the oldest entries, all that were written before that instant, except the newest entry. */
export function trimFeed({ feed }: Tables, before: number, limit: number): number {
  const oldest = feed.slice(0, Math.min(limit, Math.max(0, feed.length - 1)))
  const kept = oldest.findIndex(({ at }) => at >= before)
  return feed.splice(0, kept === -1 ? oldest.length : kept).length
}
