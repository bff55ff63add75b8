import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { queries } from '../queries.ts'

/** Names by which open asks are found, in the order of the inbox. A row is deleted when its ask closes. */
export const askTo: Migration = {
  version: 7,
  name: 'ask-to',
  statements: (schema, table) => [
    schema
      .createTable('ask_to')
      .addColumn('run', 'bigint', (column) => column.notNull())
      // The largest number if the ask never becomes overdue.
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('closes_at', 'bigint')
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('urgency', 'smallint', (column) => column.notNull())
      // Applies once the ask is overdue: it is escalated to this name.
      .addColumn('late', 'boolean', (column) => column.notNull())
      // Empty: the ask is addressed to everyone.
      .addColumn('name', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('ask_to_ask', ['run', 'position', 'name'])
      .modifyEnd(sql`with (autovacuum_vacuum_scale_factor = 0.02)`),
    schema
      .createIndex('ask_to_order')
      .on('ask_to')
      .columns(['name', 'urgency', 'due', 'opened_at', 'run', 'position']),
    {
      compile: () =>
        sql`insert into ${sql.raw(table('ask_to'))} (run, due, opened_at, closes_at, position, urgency, late, name)
          select a.run, coalesce(a.due_at, 9007199254740991), a.opened_at, a.closes_at, a.position, a.urgency, n.late, n.name
          from ${sql.raw(table('asks'))} a cross join lateral (
            select name, bool_and(late) as late from (
              select unnest(case when a.audience = '{}' then '{""}' else a.audience end) as name, false as late
              union all select unnest(a.escalate_to), true) as all_names
            where name is not null group by name) as n
          where a.status = 0`.compile(queries),
    },
  ],
}
