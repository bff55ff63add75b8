import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What the deaths of workers say about runs; see `worker/suspects.ts` of core. */
export const suspects: Migration = {
  version: 6,
  name: 'suspects',
  statements: (schema) => [
    // How many runs it tested when it was declared dead.
    schema.alterTable('workers').addColumn('tested', 'integer', (column) => column.notNull().defaultTo(0)),
    // These three mean something only while `tries` make the run a suspect: a commit need not reset them.
    schema.alterTable('runs').addColumn('positives', 'integer', (column) => column.notNull().defaultTo(0)),
    schema.alterTable('runs').addColumn('alone', 'integer', (column) => column.notNull().defaultTo(0)),
    schema.alterTable('runs').addColumn('tested', 'integer', (column) => column.notNull().defaultTo(0)),
    // Nearly always empty.
    schema
      .createIndex('runs_suspected')
      .on('runs')
      .columns(['positives desc', 'wake_at'])
      .where(sql.ref('tries'), '>', 1)
      .where(sql.ref('worker'), 'is', null)
      .where(sql.ref('wake_at'), 'is not', null),
  ],
}
