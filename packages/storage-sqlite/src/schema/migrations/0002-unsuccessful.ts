import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The few runs that failed or were cancelled are found without walking past all that completed. */
export const unsuccessful: Migration = {
  version: 2,
  name: 'unsuccessful',
  statements: (schema) => [
    schema.createIndex('runs_unsuccessful').on('runs').column('state').where(sql.ref('state'), '>', 1),
  ],
}
