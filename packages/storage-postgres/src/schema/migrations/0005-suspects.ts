import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What the deaths of workers say about runs; see `worker/crash-loops/group-tests.ts` of core. */
export const suspects: Migration = {
  version: 5,
  name: 'suspects',
  statements: (schema) => [
    // Number of runs it tested when it was declared dead.
    schema.alterTable('workers').addColumn('tested', 'integer', (column) => column.notNull().defaultTo(0)),
    schema
      .alterTable('runs')
      // Valid only while `tries` makes the run a suspect, so a commit need not reset them.
      .addColumn('positives', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('alone', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('tested', 'boolean', (column) => column.notNull().defaultTo(false)),
    // Nearly always empty. A step leaves `tries` at 0, so the row stays on its page.
    schema
      .createIndex('runs_suspected')
      .on('runs')
      .columns(['positives desc', 'wake_at'])
      .where(sql.ref('tries'), '>', 1)
      .where(sql.ref('worker'), 'is', null)
      .where(sql.ref('wake_at'), 'is not', null),
  ],
}
