import type { Database } from '../connection/database.ts'

export type CountDescendants = (id: string, limit: number) => number

export function prepareCountDescendants(database: Database): CountDescendants {
  // A limit also ends a recursion over ids that were used again, which may lead in a circle.
  const count = database
    .prepare<[string, number], number>(
      `with recursive family(id) as (
         select ? union all
         select runs.id from family join run_info on parent = family.id join runs using (run)
         limit ?)
       select count(*) - 1 from family`,
    )
    .pluck()
  return (id, limit) => count.get(id, limit + 1) as number
}
