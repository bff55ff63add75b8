// How statements keep PostgreSQL's planner on their keys.
//
// A commit is prepared once and planned once (`force_generic_plan`): planning it anew costs more than running
// it. Such a plan uses the statistics of that moment. If they say that a table is small, or that few
// rows are open, owned or unread, it scans all of them, and keeps doing so when there are a million:
// 50 ms per commit instead of 0.5 ms. So statements are prepared again when a table has grown fourfold
// (connection/fast-path/plan-generation.ts), and the helpers below leave the planner no other index to choose.

/** SQL: the value of a numeric column, which no index can then be searched by. */
export function unindexed(column: string): string {
  return `${column} + 0`
}

/** SQL: compares a column by equality without offering its index. */
export function equalsUnindexed(column: string, value: string): string {
  return `${column} is not distinct from ${value}`
}

/** SQL: ends a lateral subquery, so that it stays one look at an index for each row outside. */
export const onePerRow = 'offset 0'

/** Session settings: one plan for any values, and never a merge, which walks from the least key to the wanted. */
export const plannerSettings = { plan_cache_mode: 'force_generic_plan', enable_mergejoin: 'off' }
