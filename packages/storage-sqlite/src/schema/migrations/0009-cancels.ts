import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Time of the first request to cancel the run. */
export const cancels: Migration = {
  version: 9,
  name: 'cancels',
  statements: (schema) => [
    schema.alterTable('runs').addColumn('cancel_at', 'integer'),
    // Nearly always empty: ended runs are excluded.
    schema
      .createIndex('runs_cancelled')
      .on('runs')
      .column('cancel_at')
      .where(sql.ref('cancel_at'), 'is not', null)
      .where(sql.ref('state'), '=', 0),
  ],
}
