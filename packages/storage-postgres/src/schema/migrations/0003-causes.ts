import type { Migration } from '../migration.ts'

/** The cause of a quarantine, which decides whether an operator may release it. Null for older quarantines. */
export const causes: Migration = {
  version: 3,
  name: 'causes',
  statements: (schema) => [schema.alterTable('run_info').addColumn('cause', 'text')],
}
