import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Indexes the asks of a run, so that a list scans neither other runs' asks nor closed ones. */
export const asksOfRun: Migration = {
  version: 3,
  name: 'asks-of-run',
  statements: (schema) => [
    schema
      .createIndex('asks_of_run')
      .on('asks')
      .columns(['run', 'status', 'urgency'])
      .expression(sql`ifnull(due_at, 9007199254740991), opened_at, position`),
  ],
}
