import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Entries of the store's feed. A commit writes to `news` without a number, because of two commits the one with the
 * lower number could become visible later. A reader of the feed moves the news into `feed` and numbers them
 * (reads/feed.ts).
 */
export const feed: Migration = {
  version: 8,
  name: 'feed',
  statements: (schema) => [
    schema
      .createTable('news')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('position', 'integer')
      .addColumn('kind', 'smallint', (column) => column.notNull())
      .modifyEnd(sql`with (autovacuum_vacuum_scale_factor = 0.02)`),
    schema
      .createTable('feed')
      // The highest number plus one. The newest row is never deleted, so no number is reused.
      .addColumn('n', 'bigint', (column) => column.primaryKey())
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      // Position of the ask; null for a run.
      .addColumn('position', 'integer')
      .addColumn('kind', 'smallint', (column) => column.notNull()),
  ],
}
