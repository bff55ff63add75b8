import type { Migration } from '../migration.ts'

/** Who sent a signal or an update; null if the sender did not say so, and for messages of earlier versions. */
export const senders: Migration = {
  version: 20,
  name: 'senders',
  statements: (schema) => [schema.alterTable('messages').addColumn('sent_by', 'text')],
}
