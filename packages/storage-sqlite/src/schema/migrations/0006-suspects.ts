import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds crash counters of suspects; see `worker/crash-loops/group-tests.ts` of core. */
export const suspects: Migration = {
  version: 6,
  name: 'suspects',
  statements: (schema) => [
    // Number of runs that the worker tested when it was declared dead.
    schema.alterTable('workers').addColumn('tested', 'integer', (column) => column.notNull().defaultTo(0)),
    // These three apply only while `tries` makes the run a suspect, so a commit need not reset them.
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
