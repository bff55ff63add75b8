import type pg from 'pg'
import { types, type Value } from './values.ts'

/** A `pg` client that accepts the store's query objects. */
interface Client {
  query(query: Execution): unknown
}

/** A column of a result, with its parser. */
interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** Column description as the server sends it. */
export interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** Columns of the statements that a connection has prepared and executed, by statement name. */
const prepared = new WeakMap<Client, Map<string, readonly Column[]>>()

/** Remembers the columns of a statement that was executed on this connection. */
export function rememberColumns(client: Client, name: string, fields: readonly Field[]): void {
  const known = prepared.get(client) ?? new Map<string, readonly Column[]>()
  prepared.set(client, known)
  const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) }))
  known.set(name, columns)
}

/** Switches back to plain `pg`, for a driver whose internals have changed. */
const isOff = process.env['PAWL_POSTGRES_PLAIN'] === '1'

/** Returns undefined before the first execution there: the driver's own query prepares the statement and learns its columns. */
export function columnsOf(client: Client, name: string): readonly Column[] | undefined {
  return isOff ? undefined : prepared.get(client)?.get(name)
}

/** The values of a row as received: text or null. */
type Texts = readonly (string | null)[]

/** The result object of the driver's own queries. */
interface Result {
  readonly rows: readonly unknown[]
}

/** The methods of the driver's connection used here. Its types lack the options. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  bind(message: object): void
  execute(message: object): void
  sync(): void
}

/**
 * Executes a statement that its connection has prepared, with bind and execute only. The driver's own query has the
 * columns described and builds their parsers each time, which costs as much as the rest of its work. The driver
 * accepts such objects from pg-cursor too. Handles only the messages that the store's statements can cause.
 */
export class Execution implements pg.Submittable {
  // Read by query tracers. If a tracer passes a copy to the driver, the driver builds its own query from these.
  readonly name: string
  readonly text: string
  readonly values: readonly Value[]
  readonly types: typeof types = types
  readonly query_timeout: number
  callback: (error: unknown, result?: Result) => void = () => {}
  readonly #rows: Texts[] = []

  constructor(name: string, text: string, values: readonly Value[], timeoutMs: number) {
    this.name = name
    this.text = text
    this.query_timeout = timeoutMs
    this.values = values
  }

  /** @throws the error of the server or the driver */
  async on(client: Client, columns: readonly Column[]): Promise<readonly unknown[]> {
    const result = await new Promise<Result | undefined>((resolve, reject) => {
      this.callback = (error, result) => (error ? reject(error) : resolve(result))
      client.query(this)
    })
    return result?.rows ?? this.#rows.map((texts) => readRow(columns, texts))
  }

  /** Returns the error instead of throwing it, which would end the process here. */
  submit(connection: object): unknown {
    const wire = connection as Wire
    wire.stream.cork()
    try {
      wire.bind({ statement: this.name, values: this.values, valueMapper: writeValue })
      wire.execute({})
      wire.sync()
      return null
    } catch (error) {
      return error
    } finally {
      wire.stream.uncork()
    }
  }

  handleDataRow({ fields }: { readonly fields: Texts }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }
}

function writeValue(value: Value): string | Buffer | null {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function readRow(columns: readonly Column[], texts: Texts): unknown {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) {
    const { name, parse } = columns[i] as Column
    const text = texts[i] ?? null
    row[name] = text === null ? null : parse(text)
  }
  return row
}
