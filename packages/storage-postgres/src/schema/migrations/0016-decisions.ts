import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Answered asks of runs that were removed, with what they need of their run. */
export const decisions: Migration = {
  version: 16,
  name: 'decisions',
  statements: (schema) => [
    schema
      .createTable('decisions')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint')
      .addColumn('closes_at', 'bigint')
      .addColumn('closed_at', 'bigint')
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'smallint', (column) => column.notNull())
      .addColumn('urgency', 'smallint', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('procedure', 'text', (column) => column.notNull())
      .addColumn('started_by', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('audience', sql`text[]`, (column) => column.notNull())
      .addColumn('escalate_to', sql`text[]`, (column) => column.notNull())
      .addColumn('answered_by', 'text')
      .addColumn('payload', sql`bytea`, (column) => column.notNull())
      .addColumn('answer', sql`bytea`)
      .addPrimaryKeyConstraint('decisions_ask', ['run', 'position']),
    schema.createIndex('decisions_closed').on('decisions').columns(['procedure', 'closed_at']),
    schema.createIndex('decisions_id').on('decisions').column('id'),
  ],
}
