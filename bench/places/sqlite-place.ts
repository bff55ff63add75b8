import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import type { Database as Connection } from '@pawl/storage-sqlite/internal'
import Database from 'better-sqlite3'
import type { Address, Place, RawTable, SqliteDriver } from './place.ts'

/** A file system in memory, on Linux. */
const memory = '/dev/shm'

export class SqlitePlace implements Place {
  readonly kind = 'sqlite'
  readonly #file: string
  readonly #driver: SqliteDriver | undefined

  constructor({ file, driver }: Extract<Address, { kind: 'sqlite' }>) {
    this.#file = file
    this.#driver = driver
  }

  store(): Store {
    return this.#open(this.#file)
  }

  #open(file: string): Store {
    return this.#driver === undefined ? sqlite(file) : sqlite(file, { driver: this.#driver })
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

  /** In memory, and copied from there when it is closed. */
  async record(work: (place: Pick<Place, 'store'>) => Promise<void>): Promise<void> {
    if (!existsSync(memory)) return work(this)
    const folder = mkdtempSync(join(memory, 'pawl-bench-'))
    try {
      const file = join(folder, 'recorded.db')
      await work({ store: () => this.#open(file) })
      copyFileSync(file, this.#file)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  async diskBytes(): Promise<number> {
    const database = await this.#inspect()
    const bytes = database
      .prepare<[], number>(
        'select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size',
      )
      .pluck()
      .get()
    database.close()
    return bytes ?? 0
  }

  /** With the driver of the store, whose locks another copy of SQLite would release. */
  async #inspect(): Promise<Connection> {
    if (this.#driver !== 'node') return new Database(this.#file, { readonly: true })
    // Loaded only here: earlier commits do not have it.
    const { findNodeSqlite, NodeDatabase } = await import('@pawl/storage-sqlite/internal')
    const node = findNodeSqlite()
    if (node === undefined) throw new Error('this Node has no node:sqlite')
    return new NodeDatabase(new node.DatabaseSync(this.#file, { readOnly: true }))
  }

  async fileBytes(): Promise<{ readonly database: number; readonly wal: number }> {
    const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return { database: sizeOf(this.#file), wal: sizeOf(`${this.#file}-wal`) }
  }

  async close(): Promise<void> {}
}
