import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Saved points of runs. `slot` tells them apart in their run; `seq` is null if an event records it. */
export const checkpoints: Migration = {
  version: 17,
  name: 'checkpoints',
  statements: (schema) => [
    schema
      .createTable('checkpoints')
      .addColumn('n', 'integer', (column) => column.primaryKey())
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('slot', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer')
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('payload', 'blob')
      .addUniqueConstraint('checkpoints_slot', ['run', 'slot'])
      .modifyEnd(sql`strict`),
    schema.createIndex('checkpoints_run').on('checkpoints').column('run'),
  ],
}
