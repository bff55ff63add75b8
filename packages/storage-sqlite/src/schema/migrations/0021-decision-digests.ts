import type { Migration } from '../migration.ts'

/** The digest of a decision, over all its other columns; null for decisions of earlier versions. */
export const decisionDigests: Migration = {
  version: 21,
  name: 'decision-digests',
  statements: (schema) => [schema.alterTable('decisions').addColumn('digest', 'blob')],
}
