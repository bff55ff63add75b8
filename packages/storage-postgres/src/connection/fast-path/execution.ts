import type pg from 'pg'
import { types, type Value } from './values.ts'

/** What takes a query of ours: a client of `pg`. */
interface Client {
  query(query: Execution): unknown
}

/** A column of a statement's rows, and how it is read. */
interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** How the server describes it. */
export interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** The columns of the statements that a connection has prepared and carried out, by their names there. */
const prepared = new WeakMap<Client, Map<string, readonly Column[]>>()

/** Remembers the columns of a statement that was carried out on this connection. */
export function rememberColumns(client: Client, name: string, fields: readonly Field[]): void {
  const known = prepared.get(client) ?? new Map<string, readonly Column[]>()
  prepared.set(client, known)
  const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID) }))
  known.set(name, columns)
}

/** The switch back to plain `pg`, for a driver whose insides have changed. */
const isOff = process.env['PAWL_POSTGRES_PLAIN'] === '1'

/** Undefined until it was carried out there: the driver's own query prepares it and learns its columns. */
export function columnsOf(client: Client, name: string): readonly Column[] | undefined {
  return isOff ? undefined : prepared.get(client)?.get(name)
}

/** The values of a row as they come: text, or null. */
type Texts = readonly (string | null)[]

/** What the driver makes of a query of its own. */
interface Result {
  readonly rows: readonly unknown[]
}

/** What is called here of the driver's connection. Its types do not know the options. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  bind(message: object): void
  execute(message: object): void
  sync(): void
}

/**
 * Carries out a statement that its connection has prepared: bind, execute, and that is all. The driver's own
 * query has the columns described each time and makes their parsers anew, which costs as much as all else it
 * does. This is how it accepts foreign queries, such as those of pg-cursor; of the messages, only the ones that a
 * statement of ours can cause are handled.
 */
export class Execution implements pg.Submittable {
  // Read by query tracers. A tracer that passes the driver a copy makes it build its own query from these.
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

  /** @throws what the server or the driver says */
  async on(client: Client, columns: readonly Column[]): Promise<readonly unknown[]> {
    const result = await new Promise<Result | undefined>((resolve, reject) => {
      this.callback = (error, result) => (error ? reject(error) : resolve(result))
      client.query(this)
    })
    return result?.rows ?? this.#rows.map((texts) => readRow(columns, texts))
  }

  /** Returns what went wrong: thrown from here it would end the process. */
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
