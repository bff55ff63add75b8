import type { Migration } from '../migration.ts'

/** The procedures a worker can execute, as JSON. Null if an earlier version registered it. */
export const abilities: Migration = {
  version: 4,
  name: 'abilities',
  statements: (schema) => [schema.alterTable('workers').addColumn('procedures', 'text')],
}
