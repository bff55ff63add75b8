import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What the deaths of workers say about runs; see `worker/suspects.ts` of core. */
export const suspects: Migration = {
  version: 5,
  name: 'suspects',
  statements: (schema) => [
    // How many runs it tested when it was declared dead.
    schema.alterTable('workers').addColumn('tested', 'integer', (column) => column.notNull().defaultTo(0)),
    schema
      .alterTable('runs')
      // These mean something only while `tries` make the run a suspect: a commit need not reset them.
      .addColumn('positives', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('alone', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('tested', 'boolean', (column) => column.notNull().defaultTo(false)),
    // Nearly always empty. A step leaves `tries` at 0, so that its row stays on its page.
    schema
      .createIndex('runs_suspected')
      .on('runs')
      .columns(['positives desc', 'wake_at'])
      .where(sql.ref('tries'), '>', 1)
      .where(sql.ref('worker'), 'is', null)
      .where(sql.ref('wake_at'), 'is not', null),
  ],
}
