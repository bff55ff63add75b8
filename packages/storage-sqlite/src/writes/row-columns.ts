/** The columns that a store fills from each field of a row. What has none is written elsewhere. */
export type Fields<Row> = {
  readonly [Field in keyof Row]-?: { readonly [column: string]: (value: Row[Field]) => Bound }
}

/** A value that SQLite stores. */
export type Bound = string | number | Uint8Array | null

/** The columns of the fields of a row, for a statement that is written from their names. */
export class RowColumns<Row> {
  readonly names: string
  /** A question mark for each of them. */
  readonly places: string
  /** The columns with a question mark each, as in `update … set`. */
  readonly assigned: string
  readonly #writers: readonly ((row: Row) => Bound)[]

  constructor(fields: Fields<Row>) {
    const columns = (Object.keys(fields) as (keyof Row)[]).flatMap((field) =>
      Object.entries<(value: Row[typeof field]) => Bound>(fields[field]).map(([name, write]) => ({
        name,
        write: (row: Row) => write(row[field]),
      })),
    )
    this.names = columns.map(({ name }) => name).join(', ')
    this.places = columns.map(() => '?').join(', ')
    this.assigned = columns.map(({ name }) => `${name} = ?`).join(', ')
    this.#writers = columns.map(({ write }) => write)
  }

  /** The values of a row, in the order of the columns; all null without a row. */
  valuesOf(row: Row | null): readonly Bound[] {
    return this.#writers.map((write) => (row === null ? null : write(row)))
  }
}

/** Stores a value as it is. */
export const same = <Value>(value: Value): Value => value
