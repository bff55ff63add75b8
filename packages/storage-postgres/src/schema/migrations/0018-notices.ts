import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Notices to people, whom they are addressed to, and who has read them. A number is never used again. */
export const notices: Migration = {
  version: 18,
  name: 'notices',
  statements: (schema) => [
    schema
      .createTable('notices')
      .addColumn('run', 'bigint', (column) => column.notNull())
      // An identity needs no right of its own on its sequence.
      .addColumn('n', 'bigint', (column) => column.generatedByDefaultAsIdentity().notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('digest', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('kind', 'smallint', (column) => column.notNull())
      .addColumn('severity', 'smallint', (column) => column.notNull())
      .addColumn('audience', sql`text[]`, (column) => column.notNull())
      .addColumn('payload', 'bytea', (column) => column.notNull())
      .addPrimaryKeyConstraint('notices_digest', ['run', 'position', 'digest']),
    schema.createIndex('notices_n').unique().on('notices').column('n'),
    // The runs with a failed undo.
    schema
      .createIndex('notices_undo')
      .on('notices')
      .columns(['run', 'seq'])
      .where(sql.ref('kind'), '=', sql.lit(1)),
    schema
      .createTable('notice_to')
      .addColumn('n', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('notice_to_name', ['name', 'n']),
    schema.createIndex('notice_to_n').on('notice_to').column('n'),
    schema
      .createTable('notice_reads')
      .addColumn('n', 'bigint', (column) => column.notNull())
      .addColumn('reader', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('notice_reads_n', ['n', 'reader']),
  ],
}
