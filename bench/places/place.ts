import type { Store } from '@pawl/core'
import type { SqliteOptions } from '@pawl/storage-sqlite'

/** Where runs are kept, with what is measured beside the engine: the store's own speed, and the disk. */
export interface Place {
  readonly kind: 'sqlite' | 'postgres'
  /** A store of its own for every engine and client. */
  store(): Store
  /** A table beside Pawl's, with durable commits of one row. */
  openRaw(): Promise<RawTable>
  /** Lets work fill the place, without waiting for the disk where that can be avoided; before anything else uses it. */
  record(work: (place: Pick<Place, 'store'>) => Promise<void>): Promise<void>
  /** Bytes of all tables and indexes. */
  diskBytes(): Promise<number>
  /** Bytes of its files, with what is free in them, and of the log before them. */
  fileBytes(): Promise<{ readonly database: number; readonly wal: number }>
  close(): Promise<void>
}

export interface RawTable {
  /** Writes so many rows, each in a durable transaction of its own, one after the other. */
  write(count: number, payload?: Buffer): Promise<void>
  close(): Promise<void>
}

export type SqliteDriver = NonNullable<SqliteOptions['driver']>

/** How another process finds the same place. */
export type Address =
  | { readonly kind: 'sqlite'; readonly file: string; readonly driver?: SqliteDriver | undefined }
  | { readonly kind: 'postgres'; readonly url: string }
