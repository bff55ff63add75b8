import type { StorePort } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export function prepareCountDescendants(database: Database): StorePort['runs']['countDescendants'] {
  const { runs, runInfo } = database.names
  // Only as many rows are computed as are counted. Ids that were used again may lead in a circle.
  const text = `
    with recursive family(id) as (
      select $1::text union all
      select r.id from family p join ${runInfo} f on f.parent = p.id join ${runs} r on r.run = f.run)
    select count(*)::int - 1 as count from (select from family limit $2::bigint + 1) as counted`
  return async (id, limit) => {
    const [row] = await database.read<{ count: number }>(text, [id, limit])
    return row?.count ?? 0
  }
}
