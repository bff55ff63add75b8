import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { queries } from '../queries.ts'

/** The id of the store, and the key of the ids of asks. The key stays the same in a copy. */
export const askIds: Migration = {
  version: 11,
  name: 'ask-ids',
  statements: (schema, table) => [
    schema
      .createTable('store_info')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull()),
    {
      compile: () =>
        sql`insert into ${sql.raw(table('store_info'))} (name, value)
          values ('id', gen_random_uuid()::text), ('ask-ids', gen_random_uuid()::text)`.compile(queries),
    },
  ],
}
