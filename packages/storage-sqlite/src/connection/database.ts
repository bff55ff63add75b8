/** What the store uses of a driver. better-sqlite3 has this shape, and `NodeDatabase` gives it to node:sqlite. */
export interface Database {
  readonly inTransaction: boolean
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(sql: string): Statement<Parameters, Row>
  exec(sql: string): unknown
  /** Returns the rows of a pragma, or with `simple` the first value of the first row. */
  pragma(sql: string, options?: { readonly simple?: boolean }): unknown
  close(): unknown
}

export interface Statement<Parameters extends unknown[] = unknown[], Row = unknown> {
  get(...parameters: Parameters): Row | undefined
  all(...parameters: Parameters): Row[]
  iterate(...parameters: Parameters): IterableIterator<Row>
  run(...parameters: Parameters): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  /** Makes each row its first value. */
  pluck(): this
  /** Makes each row an array of its values. */
  raw(): this
}
