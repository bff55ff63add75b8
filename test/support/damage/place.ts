import type { Store } from '@pawl/core'

/** The columns of `events`, as a database has them. */
export const eventColumns = [
  'run',
  'seq',
  'at',
  'epoch',
  'type',
  'position',
  'turn',
  'kind',
  'nth',
  'failed',
  'took_ms',
  'name',
  'payload',
  'link',
] as const
export type EventColumn = (typeof eventColumns)[number]
export type StoredValue = number | bigint | boolean | string | Uint8Array | null
export type StoredRow = { readonly [column in EventColumn]: StoredValue }

/** A database whose rows a test damages behind the store's back. */
export interface DamagedPlace {
  /** Columns wider than a safe integer, and one for all bytes. */
  readonly hasWideIntegers: boolean
  makeStore(): Store
  readEvents(run: string): Promise<readonly StoredRow[]>
  writeEvent(run: string, seq: number, column: EventColumn, value: StoredValue): Promise<void>
  /** The mark of every run that has one. */
  readMarks(): Promise<ReadonlyMap<string, number>>
}
