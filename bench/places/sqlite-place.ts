import type { Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import Database from 'better-sqlite3'
import type { Place, RawTable } from './place.ts'

export class SqlitePlace implements Place {
  readonly kind = 'sqlite'
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  store(): Store {
    return sqlite(this.#file)
  }

  /** A file of its own, so that neither waits for the other's checkpoints. */
  async openRaw(): Promise<RawTable> {
    const database = new Database(`${this.#file}.raw.db`)
    database.pragma('journal_mode = wal')
    database.pragma('synchronous = full')
    database.exec(
      'create table if not exists e (run text, seq int, data blob, primary key (run, seq)) without rowid',
    )
    const insert = database.prepare('insert into e values (?, ?, ?)')
    let seq = database.prepare<[], number>('select count(*) from e').pluck().get() ?? 0
    return {
      async write(count, payload = Buffer.from('{"n":1}')) {
        for (let i = 0; i < count; i++) insert.run('run', seq++, payload)
      },
      async close() {
        database.close()
      },
    }
  }

  async diskBytes(): Promise<number> {
    const database = new Database(this.#file, { readonly: true })
    const bytes = database
      .prepare<[], number>(
        'select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size',
      )
      .pluck()
      .get()
    database.close()
    return bytes ?? 0
  }

  async close(): Promise<void> {}
}
