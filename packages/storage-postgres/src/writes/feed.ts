import type { Database } from '../connection/database.ts'

export type TrimFeed = (before: number, limit: number) => Promise<number>

/** News that was never read has no number, and goes the same way. */
export function prepareTrimFeed(database: Database): TrimFeed {
  const { feed, news } = database.names
  const entries = `
    with gone as (
      delete from ${feed} where at < $1::bigint and n in (
        select n from ${feed} where n < (select n from ${feed} order by n desc limit 1) order by n limit $2)
      returning 1)
    select count(*)::int as count from gone`
  const unread = `
    with gone as (
      delete from ${news} where ctid in (select ctid from ${news} where at < $1::bigint limit $2)
      returning 1)
    select count(*)::int as count from gone`
  return async (before, limit) => {
    let count = 0
    for (const statement of [entries, unread]) {
      const [deleted] = await database.read<{ readonly count: number }>(statement, [before, limit - count])
      count += deleted?.count ?? 0
    }
    return count
  }
}
