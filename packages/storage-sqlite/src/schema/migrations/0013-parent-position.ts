import type { Migration } from '../migration.ts'

/** Which operation of a run created a child. */
export const parentPosition: Migration = {
  version: 13,
  name: 'parent-position',
  statements: (schema) => [schema.alterTable('run_info').addColumn('parent_position', 'integer')],
}
