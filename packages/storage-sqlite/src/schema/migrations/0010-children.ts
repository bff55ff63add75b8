import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Which run created a run. */
export const children: Migration = {
  version: 10,
  name: 'children',
  statements: (schema) => [
    schema.alterTable('run_info').addColumn('parent', 'text'),
    // Holds the children only.
    schema
      .createIndex('run_info_parent')
      .on('run_info')
      .columns(['parent', 'run'])
      .where(sql.ref('parent'), 'is not', null),
  ],
}
