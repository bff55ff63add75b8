import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Entries of the store's feed, in the order of the commits. */
export const feed: Migration = {
  version: 8,
  name: 'feed',
  statements: (schema) => [
    schema
      .createTable('feed')
      // The highest number plus one. The newest row is never deleted, so no number is reused.
      .addColumn('n', 'integer', (column) => column.primaryKey())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('kind', 'integer', (column) => column.notNull())
      .addColumn('run', 'integer', (column) => column.notNull())
      // Position of the ask; null for a run.
      .addColumn('position', 'integer')
      .modifyEnd(sql`strict`),
  ],
}
