import type { Migration } from '../migration.ts'

/** How long the log was when a value was exposed; null for what was exposed before. It tells to which generation a value belongs. */
export const stateSeq: Migration = {
  version: 19,
  name: 'state-seq',
  statements: (schema) => [schema.alterTable('run_state').addColumn('seq', 'integer')],
}
