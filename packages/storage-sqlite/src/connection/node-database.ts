import type { Database, Statement } from './database.ts'

/** The part of `node:sqlite` that is used. The oldest supported Node has no types for it. */
export interface NodeSqlite {
  readonly DatabaseSync: new (
    file: string,
    options?: { readonly timeout?: number; readonly readOnly?: boolean; readonly allowExtension?: boolean },
  ) => DatabaseSync
}

export interface DatabaseSync {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  prepare(sql: string): StatementSync
  exec(sql: string): void
  loadExtension(file: string): void
  close(): void
}

interface StatementSync {
  get(...parameters: unknown[]): unknown
  all(...parameters: unknown[]): unknown[]
  iterate(...parameters: unknown[]): IterableIterator<unknown>
  run(...parameters: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  setReturnArrays(enabled: boolean): void
  setReadBigInts(enabled: boolean): void
}

/** Gives a connection of `node:sqlite` the shape that the store uses. */
export class NodeDatabase implements Database {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  prepare<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row> {
    return new NodeStatement<Parameters, Row>(this.#database.prepare(sql), isQuery.test(sql))
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  pragma(sql: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    const statement = this.prepare<[], unknown>(`pragma ${sql}`)
    return simple ? statement.pluck().get() : statement.all()
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}

/** A statement that can be repeated, because it only reads. */
const isQuery = /^\s*(select|with|pragma)\b/i

class NodeStatement<Parameters extends unknown[], Row> implements Statement<Parameters, Row> {
  readonly #statement: StatementSync
  readonly #isQuery: boolean
  #isPlucked = false

  constructor(statement: StatementSync, isQuery: boolean) {
    this.#statement = statement
    this.#isQuery = isQuery
  }

  pluck(): this {
    this.#isPlucked = true
    return this.raw()
  }

  raw(): this {
    this.#statement.setReturnArrays(true)
    return this
  }

  run(...parameters: Parameters): { readonly changes: number; readonly lastInsertRowid: number | bigint } {
    return this.#statement.run(...parameters)
  }

  get(...parameters: Parameters): Row | undefined {
    const row = this.#read(() => this.#statement.get(...parameters))
    return row === undefined ? undefined : this.#show(row)
  }

  all(...parameters: Parameters): Row[] {
    const rows = this.#read(() => this.#statement.all(...parameters))
    return this.#isPlucked ? rows.map((row) => this.#show(row)) : (rows as Row[])
  }

  *iterate(...parameters: Parameters): IterableIterator<Row> {
    for (const row of this.#statement.iterate(...parameters)) yield this.#show(row)
  }

  #show(row: unknown): Row {
    return (this.#isPlucked ? (row as readonly unknown[])[0] : row) as Row
  }

  /** Rounds integers beyond 2^53, as better-sqlite3 does. node:sqlite throws instead, and one damaged row would hide all. */
  #read<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      if (!this.#isQuery || !isOutOfRange(error)) throw error
      this.#statement.setReadBigInts(true)
      try {
        return roundAll(read())
      } finally {
        this.#statement.setReadBigInts(false)
      }
    }
  }
}

function isOutOfRange(error: unknown): boolean {
  return (Object(error) as { readonly code?: unknown }).code === 'ERR_OUT_OF_RANGE'
}

/** Turns the big integers of rows into numbers. */
function roundAll<Result>(result: Result): Result {
  const round = (value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value)
    if (Array.isArray(value)) return value.map(round)
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, round(one)]))
  }
  return round(result) as Result
}
