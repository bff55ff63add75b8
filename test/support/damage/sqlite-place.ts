import type { Database } from '@pawl/storage-sqlite/internal'
import { connect, sqliteStore } from '../sqlite.ts'
import type { DamagedPlace, EventColumn, StoredRow, StoredValue } from './place.ts'
import type { RowPlace, ViewTable } from './rows.ts'

export class SqlitePlace implements DamagedPlace, RowPlace {
  readonly hasWideIntegers = true
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  makeStore() {
    return sqliteStore(this.#file)
  }

  async readEvents(run: string): Promise<readonly StoredRow[]> {
    return this.#use((database) =>
      database
        .prepare<[string], StoredRow>(
          'select e.* from events e join runs r using (run) where id = ? order by seq',
        )
        .all(run),
    )
  }

  async writeEvent(run: string, seq: number, column: EventColumn, value: StoredValue): Promise<void> {
    const statement = `update events set ${column} = ? where seq = ? and run = (select run from runs where id = ?)`
    this.#use((database) => database.prepare(statement).run(value, seq, run))
  }

  async write(table: ViewTable, run: string, column: string, value: StoredValue): Promise<void> {
    const statement = `update ${table} set ${column} = ? where run = (select run from runs where id = ?)`
    this.#use((database) => database.prepare(statement).run(value, run))
  }

  async readMarks(): Promise<ReadonlyMap<string, number>> {
    return this.#use(
      (database) =>
        new Map(
          database.prepare<[], [string, number]>('select id, mark from runs where mark <> 0').raw().all(),
        ),
    )
  }

  #use<Result>(task: (database: Database) => Result): Result {
    const database = connect(this.#file)
    try {
      return task(database)
    } finally {
      database.close()
    }
  }
}
