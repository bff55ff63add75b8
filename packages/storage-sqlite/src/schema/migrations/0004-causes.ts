import type { Migration } from '../migration.ts'

/** The cause of a quarantine as a word: what an operator may release depends on it. Null for older quarantines. */
export const causes: Migration = {
  version: 4,
  name: 'causes',
  statements: (schema) => [schema.alterTable('run_info').addColumn('cause', 'text')],
}
