import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { temporaryFolder } from './bundle.ts'
import { connect } from './sqlite.ts'

const logs = new URL('../golden/logs/', import.meta.url).pathname

/** The tables of runs. The feed of news, which no run reads, stays empty. */
const tables = ['runs', 'run_info', 'events', 'messages', 'asks', 'ask_to', 'run_state']

interface Column {
  readonly table_name: string
  readonly column_name: string
  readonly data_type: string
  readonly is_identity: string
}

/** Copies the rows of a golden file into an empty PostgreSQL schema: of each table those columns that both have. */
export async function copyGolden(name: string, owner: pg.ClientBase, schema: string): Promise<void> {
  const folder = await temporaryFolder()
  const file = join(folder, name)
  await copyFile(join(logs, name), file)
  const source = connect(file, { readonly: true })
  const { rows: columns } = await owner.query<Column>(
    `select table_name, column_name, data_type, is_identity from information_schema.columns where table_schema = $1`,
    [schema],
  )
  await owner.query('begin')
  for (const table of tables) {
    const wanted = columns.filter((column) => column.table_name === table)
    // In PostgreSQL the procedure is in both tables.
    const text =
      table === 'run_info'
        ? 'select runs.procedure, run_info.* from run_info join runs using (run)'
        : `select * from "${table}"`
    const found = source.prepare<[], Record<string, unknown>>(text).all()
    for (const row of found) {
      const common = wanted.filter(({ column_name }) => column_name in row)
      const names = common.map(({ column_name }) => `"${column_name}"`)
      await owner.query(
        `insert into ${schema}."${table}" (${names.join()}) overriding system value values (${names.map((_, i) => `$${i + 1}`).join()})`,
        common.map(({ column_name, data_type }) =>
          convert(row[column_name] ?? absent(table, column_name), data_type),
        ),
      )
    }
    for (const { column_name, is_identity } of wanted)
      if (is_identity === 'YES' && found.length > 0)
        await owner.query(
          `select setval(pg_get_serial_sequence('${schema}."${table}"', $1), (select max("${column_name}") from ${schema}."${table}"))`,
          [column_name],
        )
  }
  await owner.query('commit')
  source.close()
  await rm(folder, { recursive: true })
}

/** An event without a seal has an empty one in PostgreSQL. */
function absent(table: string, column: string): Buffer | null {
  return table === 'events' && column === 'link' ? Buffer.alloc(0) : null
}

function convert(value: unknown, type: string): unknown {
  if (type === 'boolean') return value === 1
  return type === 'ARRAY' ? JSON.parse(String(value)) : value
}
