import { postgres } from '@pawl/storage-postgres'
import type { TestDatabase } from '../postgres-database.ts'
import type { DamagedPlace, EventColumn, StoredRow, StoredValue } from './place.ts'
import type { RowPlace, ViewTable } from './rows.ts'

export class PostgresPlace implements DamagedPlace, RowPlace {
  readonly hasWideIntegers = false
  readonly #database: TestDatabase

  constructor(database: TestDatabase) {
    this.#database = database
  }

  makeStore() {
    return postgres(this.#database.url)
  }

  async readEvents(run: string): Promise<readonly StoredRow[]> {
    const { rows } = await this.#database.owner.query<StoredRow>(
      'select e.* from pawl.events e join pawl.runs r using (run) where id = $1 order by seq',
      [run],
    )
    return rows
  }

  async writeEvent(run: string, seq: number, column: EventColumn, value: StoredValue): Promise<void> {
    await this.#database.owner.query(
      `update pawl.events set ${column} = $1 where seq = $2 and run = (select run from pawl.runs where id = $3)`,
      [value instanceof Uint8Array ? Buffer.from(value) : value, seq, run],
    )
  }

  async write(table: ViewTable, run: string, column: string, value: StoredValue): Promise<void> {
    await this.#database.owner.query(
      `update pawl.${table} set ${column} = $1 where run = (select run from pawl.runs where id = $2)`,
      [value instanceof Uint8Array ? Buffer.from(value) : value, run],
    )
  }

  async readMarks(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#database.owner.query<{ id: string; mark: number }>(
      'select id, mark from pawl.runs where mark <> 0',
    )
    return new Map(rows.map(({ id, mark }) => [id, mark]))
  }
}
