import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** When a run was first requested to be cancelled. */
export const cancels: Migration = {
  version: 9,
  name: 'cancels',
  statements: (schema) => [
    schema.alterTable('runs').addColumn('cancel_at', 'integer'),
    // Nearly always empty: a run that has ended is no part of it.
    schema
      .createIndex('runs_cancelled')
      .on('runs')
      .column('cancel_at')
      .where(sql.ref('cancel_at'), 'is not', null)
      .where(sql.ref('state'), '=', 0),
  ],
}
