import type { Migration } from '../migration.ts'

/** Where the present generation of a run begins in its log. No index has the column, so an update stays on its page. */
export const generations: Migration = {
  version: 15,
  name: 'generations',
  statements: (schema) => [
    schema.alterTable('runs').addColumn('base', 'integer', (column) => column.notNull().defaultTo(0)),
  ],
}
