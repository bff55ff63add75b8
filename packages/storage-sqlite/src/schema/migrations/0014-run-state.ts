import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The values that runs expose. */
export const runState: Migration = {
  version: 14,
  name: 'run-state',
  statements: (schema) => [
    schema
      .createTable('run_state')
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('payload', 'blob')
      .addPrimaryKeyConstraint('run_state_name', ['run', 'name'])
      .modifyEnd(sql`strict`),
  ],
}
