import type { Backlog } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { type Names, storeTime } from '../names.ts'

export type ReadBacklog = () => Promise<readonly Backlog[]>

const maxCounted = 1_000

export function prepareReadBacklog(database: Database): ReadBacklog {
  const statement = new Statement(writeBacklog(database.names))
  return () => database.repeat(() => database.run<Backlog>(statement, []))
}

/** Skips from kind to kind along the index of due runs instead of scanning all runs of a kind. */
function writeBacklog({ runs }: Names): string {
  const kindOf = 'r.procedure, coalesce(r.version, -1) as version'
  const unowned = `from ${runs} r where r.worker is null and r.wake_at is not null`
  const inOrder = 'order by r.procedure, coalesce(r.version, -1) limit 1'
  const due = `${unowned} and r.procedure = k.procedure and coalesce(r.version, -1) = k.version
    and r.wake_at <= (select ${storeTime})`
  return `
    with recursive kind as (
      (select ${kindOf} ${unowned} ${inOrder})
      union all
      select n.procedure, n.version from kind k cross join lateral (
        select ${kindOf} ${unowned} and (r.procedure, coalesce(r.version, -1)) > (k.procedure, k.version)
        ${inOrder}) n)
    select k.procedure, nullif(k.version, -1) as version, o.id as oldest, c.count
    from kind k
    cross join lateral (select r.id ${due} order by r.wake_at limit 1) o
    cross join lateral (
      select count(*)::int as count from (select ${due} limit ${maxCounted}) one) c`
}
