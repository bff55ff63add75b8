import {
  listBigints,
  listBooleans,
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
  writeLiteral,
} from '../connection/fast-path/lists.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'

export interface Column {
  readonly name: string
  readonly type: string
  /** Whether it can be read by index from the list: it has a fixed width and is never null. */
  readonly isPlaced: boolean
}

/** The columns that a store fills from each field of a row. What has none is written elsewhere. */
export type Fields<Row> = {
  readonly [Field in keyof Row]-?: { readonly [column: string]: Filled<Row[Field]> }
}

/** How a column is filled from a field. */
interface Filled<From> extends Omit<Column, 'name'> {
  /** SQL: converts an item of its list to the type of the column. */
  readonly cast: string
  /** Binds the value of one row. */
  one(value: From): Value
  /** Binds the values of several rows; null for a row that is null. */
  list<Row>(rows: readonly (Row | null)[], fieldOf: (row: Row) => From): Buffer
}

/** A type of column. */
interface Kind<Item> {
  /** A column that is never null. */
  of<From>(read: (value: From) => Item): Filled<From>
  orNull<From>(read: (value: From) => Item | null): Filled<From>
}

function kindOf<Item extends Value | Uint8Array>(
  type: string,
  isFixed: boolean,
  list: (items: readonly (Item | null)[]) => Buffer,
): Kind<Item> {
  const fill = <From>(read: (value: From) => Item | null, isEmpty: boolean): Filled<From> => ({
    ...{ type, cast: '', isPlaced: isFixed && !isEmpty },
    one(value) {
      const item = read(value)
      return item instanceof Uint8Array ? asBuffer(item) : item
    },
    list: (rows, fieldOf) => list(rows.map((row) => (row === null ? null : read(fieldOf(row))))),
  })
  return { of: (read) => fill(read, false), orNull: (read) => fill(read, true) }
}

/** Reads a value as it is. */
export const same = <Item>(value: Item): Item => value

export const smallint: Kind<number> = kindOf('int2', true, listSmallints)
export const int: Kind<number> = kindOf('int', true, listIntegers)
export const bigint: Kind<number> = kindOf('bigint', true, listBigints)
export const bool: Kind<boolean> = kindOf('bool', true, listBooleans)
export const text: Kind<string> = kindOf('text', false, listTexts)
export const bytea: Kind<Uint8Array> = kindOf('bytea', false, listBytes)

/** A column of a list of texts. It is passed as text: `unnest` would flatten a list of lists. */
export function texts<From>(read: (value: From) => readonly string[]): Filled<From> {
  return { ...text.of((value: From) => writeLiteral(read(value))), cast: '::text[]' }
}

/** The columns of the fields of a row, for statements that are written from their names. */
export class RowColumns<Row> {
  readonly columns: readonly Column[]
  readonly names: string
  /** Types of their lists. */
  readonly types: string
  readonly count: number
  readonly #filled: readonly (Column & {
    readonly cast: string
    readonly one: (row: Row) => Value
    readonly list: (rows: readonly (Row | null)[]) => Buffer
  })[]

  constructor(fields: Fields<Row>) {
    this.#filled = (Object.keys(fields) as (keyof Row)[]).flatMap((field) =>
      Object.entries<Filled<Row[typeof field]>>(fields[field]).map(
        ([name, { type, isPlaced, cast, one, list }]) => ({
          ...{ name, type, isPlaced, cast },
          one: (row: Row) => one(row[field]),
          list: (rows: readonly (Row | null)[]) => list(rows, (row) => row[field]),
        }),
      ),
    )
    this.columns = this.#filled
    this.names = this.#filled.map(({ name }) => name).join(', ')
    this.types = this.#filled.map(({ type }) => `${type}[]`).join(', ')
    this.count = this.#filled.length
  }

  /** SQL: the columns of the rows that `unnest` makes of their lists. */
  of(alias: string): string {
    return this.#filled.map(({ name, cast }) => `${alias}.${name}${cast}`).join(', ')
  }

  /** SQL: the parameters of one row, from `$first` on. */
  numbered(first: number): string {
    return this.#filled.map(({ type, cast }, index) => `$${first + index}${cast || `::${type}`}`).join(', ')
  }

  /** The parameters of one row. */
  one(row: Row): readonly Value[] {
    return this.#filled.map(({ one }) => one(row))
  }

  /** A list of each column; null in it for a row that is null. */
  lists(rows: readonly (Row | null)[]): readonly Buffer[] {
    return this.#filled.map(({ list }) => list(rows))
  }
}
