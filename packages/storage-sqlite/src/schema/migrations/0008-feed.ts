import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What has happened in the store, in the order of the commits. */
export const feed: Migration = {
  version: 8,
  name: 'feed',
  statements: (schema) => [
    schema
      .createTable('feed')
      // The highest number plus one; the newest row is never deleted, so that no number is given twice.
      .addColumn('n', 'integer', (column) => column.primaryKey())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('kind', 'integer', (column) => column.notNull())
      .addColumn('run', 'integer', (column) => column.notNull())
      // Of the ask; null for a run.
      .addColumn('position', 'integer')
      .modifyEnd(sql`strict`),
  ],
}
