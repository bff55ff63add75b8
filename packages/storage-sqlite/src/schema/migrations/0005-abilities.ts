import type { Migration } from '../migration.ts'

/** What a worker can execute, as JSON. Null where an earlier version registered it: it does not say. */
export const abilities: Migration = {
  version: 5,
  name: 'abilities',
  statements: (schema) => [schema.alterTable('workers').addColumn('procedures', 'text')],
}
