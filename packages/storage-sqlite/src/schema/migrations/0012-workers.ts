import type { Migration } from '../migration.ts'

/** When a worker was registered, and the input schemas of its procedures: for people who look at the workers. */
export const workers: Migration = {
  version: 12,
  name: 'workers',
  statements: (schema) => [
    schema.alterTable('workers').addColumn('started_at', 'integer'),
    schema.alterTable('workers').addColumn('inputs', 'text'),
  ],
}
