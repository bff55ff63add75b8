import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Notices to people, whom they are addressed to, and who has read them. A number is never used again. */
export const notices: Migration = {
  version: 18,
  name: 'notices',
  statements: (schema) => [
    schema
      .createTable('notices')
      .addColumn('n', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('digest', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('kind', 'integer', (column) => column.notNull())
      .addColumn('severity', 'integer', (column) => column.notNull())
      .addColumn('audience', 'text', (column) => column.notNull())
      .addColumn('payload', 'blob', (column) => column.notNull())
      .addUniqueConstraint('notices_digest', ['run', 'position', 'digest'])
      .modifyEnd(sql`strict`),
    // The runs with a failed undo.
    schema
      .createIndex('notices_undo')
      .on('notices')
      .columns(['run', 'seq'])
      .where(sql.ref('kind'), '=', sql.lit(1)),
    schema
      .createTable('notice_to')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('n', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('notice_to_name', ['name', 'n'])
      .modifyEnd(sql`strict, without rowid`),
    schema.createIndex('notice_to_n').on('notice_to').column('n'),
    schema
      .createTable('notice_reads')
      .addColumn('n', 'integer', (column) => column.notNull())
      .addColumn('reader', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('notice_reads_n', ['n', 'reader'])
      .modifyEnd(sql`strict, without rowid`),
  ],
}
