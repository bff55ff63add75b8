import { readOptions } from '../../checks/spec.ts'
import type { Connection } from '../connection.ts'
import type { AskCount } from '../types.ts'
import { conditionOptions, queryOf } from './list.ts'

/** Maximum count; a badge shows "1000+". */
const maxCount = 1_000

export async function countAsks(connection: Connection, given: unknown): Promise<AskCount> {
  const filter = readOptions('of inbox.count', given, conditionOptions, 'the filter of inbox.count')
  const query = queryOf('inbox.count', filter)
  const store = await connection.begin()
  const asked = { ...query, now: await store.now() }
  const count = (
    await Promise.all(
      // An ask whose time has expired is timed out, also where no worker has come to record it.
      query.status === 'open'
        ? [store.asks.count({ ...asked, lapsed: false }, maxCount + 1)]
        : [
            store.asks.count({ ...asked, lapsed: null }, maxCount + 1),
            ...(query.status === 'timed-out' && query.overdue !== false
              ? [store.asks.count({ ...asked, status: 'open', overdue: true, lapsed: true }, maxCount + 1)]
              : []),
          ],
    )
  ).reduce((sum, part) => sum + part, 0)
  return { count: Math.min(count, maxCount), capped: count > maxCount }
}
