import type { Migration } from '../migration.ts'

/** Saved points of runs. `slot` tells them apart in their run; `seq` is null if an event records it. */
export const checkpoints: Migration = {
  version: 17,
  name: 'checkpoints',
  statements: (schema) => [
    schema
      .createTable('checkpoints')
      .addColumn('run', 'bigint', (column) => column.notNull())
      // An identity needs no right of its own on its sequence.
      .addColumn('n', 'bigint', (column) => column.generatedByDefaultAsIdentity().notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('slot', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer')
      .addColumn('name', 'text')
      .addColumn('payload', 'bytea')
      .addPrimaryKeyConstraint('checkpoints_slot', ['run', 'slot']),
    schema.createIndex('checkpoints_n').on('checkpoints').column('n'),
  ],
}
