import { type Kysely, sql } from 'kysely'
import type { Migration } from '../migration.ts'

export const initial: Migration = {
  version: 1,
  name: 'initial',
  statements: (schema) => [
    ...buildWorkers(schema),
    ...buildRuns(schema),
    ...buildLogs(schema),
    ...buildAsks(schema),
  ],
}

type Builder = Kysely<unknown>['schema']

// Fixed-width columns come first, which avoids padding. There are no foreign keys (each check locks a row of `runs`)
// and no triggers. All keys of `events`, `messages` and `asks` contain the run, so that the tables can be
// partitioned by it.

function buildWorkers(schema: Builder): ReturnType<Migration['statements']> {
  return [
    // One per registration; an identity is never reused.
    schema
      .createTable('workers')
      .addColumn('worker', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
      .addColumn('beat_at', 'bigint', (column) => column.notNull())
      .addColumn('lease_ms', 'bigint', (column) => column.notNull())
      .addColumn('dead', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('name', 'text', (column) => column.notNull())
      // Free space beside each row, so that a heartbeat stays on its page.
      .modifyEnd(sql`with (fillfactor = 50)`),
  ]
}

function buildRuns(schema: Builder): ReturnType<Migration['statements']> {
  return [
    schema
      .createTable('runs')
      .addColumn('run', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
      // Time from which the run is due. Null: waiting without a deadline, ended, or owned.
      .addColumn('wake_at', 'bigint')
      // Worker that may write the log, or null.
      .addColumn('worker', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('head', 'integer', (column) => column.notNull())
      .addColumn('mail', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('version', 'integer')
      .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('state', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('mark', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('procedure', 'text', (column) => column.notNull())
      .addColumn('link', sql`bytea`, (column) => column.notNull())
      // A step updates `head` and `link` only. Neither is in any index, so that the new row stays on its page.
      .modifyEnd(sql`with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)`),
    schema.createIndex('runs_id').unique().on('runs').column('id'),
    // Procedure and version come first, so that a claim never scans past runs that it cannot execute.
    schema
      .createIndex('runs_due')
      .on('runs')
      .column('procedure')
      .expression(sql`coalesce(version, -1)`)
      .column('wake_at')
      .where(sql.ref('worker'), 'is', null)
      .where(sql.ref('wake_at'), 'is not', null),
    schema.createIndex('runs_owned').on('runs').column('worker').where(sql.ref('worker'), 'is not', null),
    // Contains a run once: when it ends or is marked.
    schema.createIndex('runs_ended').on('runs').columns(['state', 'run']).where(sql.ref('state'), '<>', 0),
    schema.createIndex('runs_marked').on('runs').column('run').where(sql.ref('mark'), '<>', 0),
    // Rarely changed columns of a run: written when it starts, when it ends and when its view changes.
    schema
      .createTable('run_info')
      .addColumn('run', 'bigint', (column) => column.primaryKey())
      .addColumn('ended_at', 'bigint')
      .addColumn('procedure', 'text', (column) => column.notNull())
      .addColumn('started_by', 'text')
      .addColumn('tags', sql`text[]`, (column) => column.notNull())
      .addColumn('info', sql`bytea`)
      .addColumn('reason', sql`bytea`)
      .modifyEnd(sql`with (fillfactor = 80)`),
    schema.createIndex('run_info_procedure').on('run_info').columns(['procedure', 'run']),
    schema.createIndex('run_info_live').on('run_info').column('run').where(sql.ref('ended_at'), 'is', null),
    schema
      .createIndex('run_info_tags')
      .using('gin')
      .on('run_info')
      .column('tags')
      .where(sql`tags`, '<>', sql`'{}'`),
  ]
}

function buildLogs(schema: Builder): ReturnType<Migration['statements']> {
  return [
    schema
      .createTable('events')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('took_ms', 'bigint')
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('turn', 'integer', (column) => column.notNull())
      .addColumn('nth', 'integer', (column) => column.notNull())
      .addColumn('type', 'smallint', (column) => column.notNull())
      .addColumn('kind', 'smallint')
      .addColumn('failed', 'boolean', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('payload', sql`bytea`)
      // Empty for most rows. Nulls would cost eight bytes per row.
      .addColumn('link', sql`bytea`, (column) => column.notNull().defaultTo(sql`''`))
      .addPrimaryKeyConstraint('events_key', ['run', 'seq']),
    // Used messages remain without their payload, so that keys and numbers are never reused.
    schema
      .createTable('messages')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('n', 'integer', (column) => column.notNull())
      .addColumn('kind', 'smallint', (column) => column.notNull())
      .addColumn('used', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('payload', sql`bytea`)
      .addPrimaryKeyConstraint('messages_number', ['run', 'n']),
    schema
      .createIndex('messages_key')
      .unique()
      .on('messages')
      .columns(['run', 'key'])
      .where(sql.ref('key'), 'is not', null),
  ]
}

function buildAsks(schema: Builder): ReturnType<Migration['statements']> {
  return [
    schema
      .createTable('asks')
      .addColumn('run', 'bigint', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint')
      .addColumn('closes_at', 'bigint')
      .addColumn('closed_at', 'bigint')
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'smallint', (column) => column.notNull())
      .addColumn('urgency', 'smallint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('audience', sql`text[]`, (column) => column.notNull())
      .addColumn('escalate_to', sql`text[]`, (column) => column.notNull())
      .addColumn('answered_by', 'text')
      // The attempt that answered it. After a lost reply, the attempt recognises its own answer.
      .addColumn('token', 'text')
      .addColumn('payload', sql`bytea`, (column) => column.notNull())
      .addColumn('answer', sql`bytea`)
      .addPrimaryKeyConstraint('asks_position', ['run', 'position']),
    schema
      .createIndex('asks_key')
      .unique()
      .on('asks')
      .columns(['run', 'key'])
      .where(sql.ref('key'), 'is not', null),
    // The order of the inbox (reads/ask-list.ts).
    schema
      .createIndex('asks_order')
      .on('asks')
      .columns(['status', 'urgency desc', 'due_at', 'opened_at', 'run', 'position']),
  ]
}
