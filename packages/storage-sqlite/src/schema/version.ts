import type { Database } from '../connection/database.ts'
import { unusable } from '../unusable.ts'

/**
 * The names of the migrations. The number of a migration is its place in this list, from 1. The list is apart from their
 * statements: a process that finds the schema up to date does not load the library that builds them.
 */
export const migrationNames = [
  'initial',
  'unsuccessful',
  'asks-of-run',
  'causes',
  'abilities',
  'suspects',
  'ask-to',
  'feed',
  'cancels',
  'children',
  'ask-ids',
  'workers',
  'parent-position',
  'run-state',
  'generations',
  'decisions',
  'checkpoints',
  'notices',
  'state-seq',
  'senders',
  'decision-digests',
] as const

export type MigrationName = (typeof migrationNames)[number]

/** Schema version of this package: the number of its last migration. */
export const newestVersion: number = migrationNames.length

/**
 * Returns the schema version of a file, or 0 before the first migration.
 * @throws PawlError 'store-unusable' if a later version of the package has migrated it
 */
export function readVersion(database: Database, file: string, newest: number = newestVersion): number {
  const version = hasTable(database, 'migrations')
    ? (database.prepare<[], number>('select coalesce(max(version), 0) from migrations').pluck().get() ?? 0)
    : 0
  if (version <= newest) return version
  throw unusable(
    `${file} has schema version ${version}; this @pawl/storage-sqlite supports versions up to ${newest}.`,
    'Update @pawl/storage-sqlite in every program that uses the file, or restore a backup taken before the migration.',
  )
}

export function hasTable(database: Database, name: string): boolean {
  return (
    database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined
  )
}
