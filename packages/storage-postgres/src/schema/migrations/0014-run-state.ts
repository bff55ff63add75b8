import type { Migration } from '../migration.ts'

/** The values that runs expose. */
export const runState: Migration = {
  version: 14,
  name: 'run-state',
  statements: (schema) => [
    schema
      .createTable('run_state')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('payload', 'bytea')
      .addPrimaryKeyConstraint('run_state_name', ['run', 'name']),
  ],
}
