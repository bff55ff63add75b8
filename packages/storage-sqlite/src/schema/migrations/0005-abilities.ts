import type { Migration } from '../migration.ts'

/** Adds the procedures that a worker can execute, as JSON. Null (unknown) if an earlier version registered it. */
export const abilities: Migration = {
  version: 5,
  name: 'abilities',
  statements: (schema) => [schema.alterTable('workers').addColumn('procedures', 'text')],
}
