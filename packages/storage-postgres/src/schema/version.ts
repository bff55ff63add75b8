import { docsPage } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { codeOf, describe } from '../faults.ts'
import type { Names } from '../names.ts'
import { unusable } from '../unusable.ts'

/**
 * The names of the migrations. The number of a migration is its place in this list, from 1. The list is apart from their
 * statements: a process that finds the schema up to date does not load the library that builds them.
 */
export const migrationNames = [
  'initial',
  'processes',
  'causes',
  'abilities',
  'suspects',
  'same-numbers',
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

/** The version of the schema this package works with: the number of its last migration. */
const newestVersion: number = migrationNames.length

/** Returns the version of the schema; 0 before the first migration. Requires only the right to read. */
export async function readVersion(database: Database): Promise<number> {
  try {
    const [row] = await database.read<{ version: number | null }>(
      `select max(version) as version from ${database.names.migrations}`,
      [],
    )
    return row?.version ?? 0
  } catch (error) {
    // The schema or the table is missing: no migration has run.
    if (['3F000', '42P01'].includes(codeOf(error))) return 0
    throw explainRights(error, database.names)
  }
}

/** @throws PawlError 'store-unusable' if a later version of the package has migrated it */
export function isCurrent(version: number, { schema }: Names): boolean {
  if (version <= newestVersion) return version === newestVersion
  throw unusable(
    `The schema "${schema}" has version ${version}; this version of @pawl/storage-postgres supports versions up to ${newestVersion}.`,
    'Upgrade @pawl/storage-postgres in this process to the version of the other processes.',
  )
}

export function explainRights(error: unknown, { schema }: Names): unknown {
  if (codeOf(error) !== '42501') return error
  return unusable(
    `This role may not prepare or use the schema "${schema}": ${describe(error)}.`,
    `Open the store once with a role that owns the schema, then grant this role the rights listed in ${docsPage('guides/postgres')}.`,
    error,
  )
}
