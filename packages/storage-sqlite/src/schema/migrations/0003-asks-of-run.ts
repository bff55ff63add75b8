import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The open questions of one run are found without walking past those of others, nor past all it has ever asked. */
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
