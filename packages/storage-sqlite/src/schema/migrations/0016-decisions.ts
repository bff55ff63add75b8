import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Answered asks of runs that were removed, with what they need of their run. */
export const decisions: Migration = {
  version: 16,
  name: 'decisions',
  statements: (schema) => [
    schema
      .createTable('decisions')
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('urgency', 'integer', (column) => column.notNull())
      .addColumn('opened_at', 'integer', (column) => column.notNull())
      .addColumn('due_at', 'integer')
      .addColumn('closes_at', 'integer')
      .addColumn('closed_at', 'integer')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('procedure', 'text', (column) => column.notNull())
      .addColumn('started_by', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('audience', 'text', (column) => column.notNull())
      .addColumn('escalate_to', 'text', (column) => column.notNull())
      .addColumn('answered_by', 'text')
      .addColumn('payload', 'blob', (column) => column.notNull())
      .addColumn('answer', 'blob')
      .addPrimaryKeyConstraint('decisions_ask', ['run', 'position'])
      .modifyEnd(sql`strict, without rowid`),
    schema.createIndex('decisions_closed').on('decisions').columns(['procedure', 'closed_at']),
    schema.createIndex('decisions_id').on('decisions').column('id'),
  ],
}
