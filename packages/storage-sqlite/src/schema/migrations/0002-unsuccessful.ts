import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Indexes the few failed or cancelled runs, so that a list does not scan completed runs. */
export const unsuccessful: Migration = {
  version: 2,
  name: 'unsuccessful',
  statements: (schema) => [
    schema.createIndex('runs_unsuccessful').on('runs').column('state').where(sql.ref('state'), '>', 1),
  ],
}
