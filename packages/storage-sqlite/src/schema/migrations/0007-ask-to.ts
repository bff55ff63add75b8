import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { queries } from '../queries.ts'

/** Names by which open asks are found, in the order of the inbox. A row is deleted when its ask closes. */
export const askTo: Migration = {
  version: 7,
  name: 'ask-to',
  statements: (schema) => [
    schema
      .createTable('ask_to')
      .addColumn('run', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      // Empty: the ask is addressed to everyone.
      .addColumn('name', 'text', (column) => column.notNull())
      // Applies once the ask is overdue: it is escalated to this name.
      .addColumn('late', 'integer', (column) => column.notNull())
      .addColumn('urgency', 'integer', (column) => column.notNull())
      // The largest number if the ask never becomes overdue.
      .addColumn('due', 'integer', (column) => column.notNull())
      .addColumn('opened_at', 'integer', (column) => column.notNull())
      .addColumn('closes_at', 'integer')
      .addPrimaryKeyConstraint('ask_to_ask', ['run', 'position', 'name'])
      .modifyEnd(sql`strict, without rowid`),
    schema
      .createIndex('ask_to_order')
      .on('ask_to')
      .columns(['name', 'urgency', 'due', 'opened_at', 'run', 'position', 'late', 'closes_at']),
    // A damaged list of names adds no rows; its ask reports the damage to each reader.
    {
      compile: () =>
        sql`insert into ask_to (run, position, name, late, urgency, due, opened_at, closes_at)
          select run, position, name, min(late), urgency, ifnull(due_at, 9007199254740991), opened_at, closes_at from (
            select a.run, a.position, e.value as name, 0 as late, a.urgency, a.due_at, a.opened_at, a.closes_at
            from asks a, json_each(iif(not json_valid(a.audience), '[]', iif(a.audience = '[]', '[""]', a.audience))) e
            where a.status = 0 and e.type = 'text'
            union all
            select a.run, a.position, e.value, 1, a.urgency, a.due_at, a.opened_at, a.closes_at
            from asks a, json_each(iif(json_valid(a.escalate_to), a.escalate_to, '[]')) e
            where a.status = 0 and e.type = 'text')
          group by run, position, name`.compile(queries),
    },
  ],
}
