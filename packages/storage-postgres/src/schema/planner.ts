// Keeps PostgreSQL's planner on the keys.
//
// A commit is prepared once and planned once (`force_generic_plan`): planning it anew costs more than running
// it. Such a plan uses the statistics of that moment. If a table is small then, or few rows are open, owned or
// unread, the plan scans all of them and keeps doing so at a million rows: 50 ms per commit instead of 0.5 ms. So statements are prepared again when a table has grown fourfold
// (connection/fast-path/plan-generation.ts), and the helpers below leave the planner no other index to choose.

/** SQL: the value of a numeric column, in a form that no index offers. */
export function unindexed(column: string): string {
  return `${column} + 0`
}

/** SQL: compares a column by equality without offering its index. */
export function equalsUnindexed(column: string, value: string): string {
  return `${column} is not distinct from ${value}`
}

/** SQL: ends a lateral subquery, so that it stays one index lookup per outer row. */
export const onePerRow = 'offset 0'
