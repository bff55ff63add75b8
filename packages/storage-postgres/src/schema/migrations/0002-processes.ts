import type { Migration } from '../migration.ts'

/** Lets workers on the same machine detect that a process is gone. Null if that cannot be determined. */
export const processes: Migration = {
  version: 2,
  name: 'processes',
  statements: (schema) => [
    schema
      .alterTable('workers')
      .addColumn('pid', 'integer')
      // The server process that handled the worker's last heartbeat.
      .addColumn('session', 'integer')
      .addColumn('process_started', 'text')
      .addColumn('machine', 'text'),
  ],
}
