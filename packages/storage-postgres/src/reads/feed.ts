import { type FeedPage, type FeedRow, hiddenState, showFeedEntry } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { codeOf } from '../faults.ts'

export type ReadFeed = (after: number, limit: number) => Promise<FeedPage>

export function prepareReadFeed(database: Database): ReadFeed {
  const { feed, runs } = database.names
  const number = prepareNumbering(database)
  const page = `
    select n, f.at, f.kind, f.run, f.position, r.id from ${feed} f join ${runs} r on r.run = f.run
    where n > $1 and r.state <> ${hiddenState} order by n limit $2`
  const ends = `
    select coalesce((select n from ${feed} order by n limit 1), 0) as oldest,
      coalesce((select n from ${feed} order by n desc limit 1), 0) as newest`
  return async (after, limit) => {
    await number()
    // In this order: entries added in between are not on this page but on the next one.
    const [bounds = { oldest: 0, newest: 0 }] = await database.read<Ends>(ends, [])
    const rows = await database.read<FeedRow>(page, [Math.min(after, Number.MAX_SAFE_INTEGER), limit])
    return {
      entries: rows.map(showFeedEntry),
      ...bounds,
    }
  }
}

interface Ends {
  readonly oldest: number
  readonly newest: number
}

/**
 * Moves all news into the feed. One reader at a time does this, and no writer waits for it. A reader that began
 * before another one finished may choose a number already in use; then nothing is moved and it retries.
 */
function prepareNumbering(database: Database): () => Promise<void> {
  const { feed, news, channel } = database.names
  const statement = `
    with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended($1, 1)) as mine),
    taken as (
      delete from ${news} where (select mine from turn) returning at, run, position, kind)
    insert into ${feed} (n, at, run, position, kind)
    select coalesce((select n from ${feed} order by n desc limit 1), 0)
        + row_number() over (order by at, run, position nulls last, kind), at, run, position, kind
    from taken`
  return async () => {
    for (;;) {
      try {
        await database.read(statement, [channel])
        return
      } catch (error) {
        if (codeOf(error) !== '23505') throw error
      }
    }
  }
}
