import type { Migration } from '../migration.ts'

/** What tells others on a worker's machine that its process is gone. Null where that cannot be known. */
export const processes: Migration = {
  version: 2,
  name: 'processes',
  statements: (schema) => [
    schema
      .alterTable('workers')
      .addColumn('pid', 'integer')
      // The server's process behind the worker's last heartbeat.
      .addColumn('session', 'integer')
      .addColumn('process_started', 'text')
      .addColumn('machine', 'text'),
  ],
}
