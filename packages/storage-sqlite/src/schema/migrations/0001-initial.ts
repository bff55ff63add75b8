import { type Kysely, sql } from 'kysely'
import type { Migration } from '../migration.ts'

const strict = sql`strict`
const clustered = sql`strict, without rowid`

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

function buildWorkers(schema: Builder): ReturnType<Migration['statements']> {
  return [
    // One row per registration. `autoincrement`: the number of a deleted worker is never reused.
    schema
      .createTable('workers')
      .addColumn('worker', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('beat_at', 'integer', (column) => column.notNull())
      .addColumn('lease_ms', 'integer', (column) => column.notNull())
      .addColumn('dead', 'integer', (column) => column.notNull().defaultTo(0))
      // These columns reveal at once that a process is gone, before its lease expires.
      .addColumn('pid', 'integer', (column) => column.notNull())
      .addColumn('process_started', 'text')
      .addColumn('machine', 'text')
      .modifyEnd(strict),
    schema
      .createTable('store_info')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .modifyEnd(clustered),
  ]
}

function buildRuns(schema: Builder): ReturnType<Migration['statements']> {
  return [
    schema
      .createTable('runs')
      .addColumn('run', 'integer', (column) => column.primaryKey())
      // Time from which the run is due. Null: waiting without a deadline, ended, or owned.
      .addColumn('wake_at', 'integer')
      // Worker that may write the log, or null.
      .addColumn('worker', 'integer')
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('head', 'integer', (column) => column.notNull())
      .addColumn('mail', 'integer', (column) => column.notNull())
      .addColumn('state', 'integer', (column) => column.notNull())
      .addColumn('mark', 'integer', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('version', 'integer')
      .addColumn('procedure', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('link', 'blob', (column) => column.notNull())
      .modifyEnd(strict),
    schema.createIndex('runs_id').unique().on('runs').column('id'),
    // Starts with the procedure and version, so that a claim never scans runs that it cannot execute.
    schema
      .createIndex('runs_due')
      .on('runs')
      .columns(['procedure', 'version', 'wake_at'])
      .where(sql.ref('worker'), 'is', null)
      .where(sql.ref('wake_at'), 'is not', null),
    schema.createIndex('runs_owned').on('runs').column('worker').where(sql.ref('worker'), 'is not', null),
    // The few runs that need a person or a deployment.
    schema
      .createIndex('runs_marked')
      .on('runs')
      .columns(['mark', 'procedure'])
      .where(sql.ref('mark'), '<>', 0),
    // Cold data of a run: written at its start and its end, and if its displayed state changes.
    schema
      .createTable('run_info')
      .addColumn('run', 'integer', (column) => column.primaryKey())
      .addColumn('ended_at', 'integer')
      .addColumn('started_by', 'text')
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('reason', 'blob')
      .addColumn('info', 'blob')
      .modifyEnd(strict),
    schema
      .createTable('run_tags')
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('run', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('run_tags_key', ['tag', 'run'])
      .modifyEnd(clustered),
  ]
}

function buildLogs(schema: Builder): ReturnType<Migration['statements']> {
  return [
    // Rows in write order, which is the order on the disk. The index finds a log.
    schema
      .createTable('events')
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('type', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('turn', 'integer', (column) => column.notNull())
      .addColumn('kind', 'integer')
      .addColumn('nth', 'integer', (column) => column.notNull())
      .addColumn('failed', 'integer', (column) => column.notNull())
      .addColumn('took_ms', 'integer')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('payload', 'blob')
      .addColumn('link', 'blob')
      .modifyEnd(strict),
    schema.createIndex('events_key').unique().on('events').columns(['run', 'seq']),
    // Used messages stay, without their payload, so that `mail` stays the highest number and keys are never reused.
    schema
      .createTable('messages')
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('n', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('kind', 'integer', (column) => column.notNull())
      .addColumn('used', 'integer', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      .addColumn('payload', 'blob')
      .addPrimaryKeyConstraint('messages_number', ['run', 'n'])
      .modifyEnd(clustered),
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
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('urgency', 'integer', (column) => column.notNull())
      .addColumn('opened_at', 'integer', (column) => column.notNull())
      .addColumn('due_at', 'integer')
      .addColumn('closes_at', 'integer')
      .addColumn('closed_at', 'integer')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('key', 'text')
      // Both columns hold JSON arrays of names.
      .addColumn('audience', 'text', (column) => column.notNull())
      .addColumn('escalate_to', 'text', (column) => column.notNull())
      .addColumn('answered_by', 'text')
      .addColumn('payload', 'blob', (column) => column.notNull())
      .addColumn('answer', 'blob')
      .addPrimaryKeyConstraint('asks_position', ['run', 'position'])
      .modifyEnd(clustered),
    schema
      .createIndex('asks_key')
      .unique()
      .on('asks')
      .columns(['run', 'key'])
      .where(sql.ref('key'), 'is not', null),
    // The order of the inbox within one urgency, with the same expression as reads/ask-list.ts.
    schema
      .createIndex('asks_order')
      .on('asks')
      .columns(['status', 'urgency'])
      .expression(sql`ifnull(due_at, 9007199254740991), opened_at, run, position`),
  ]
}
