import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/** Bytes of all tables and indexes of a database but those of PostgreSQL itself. */
export async function bytesOfTables(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and nspname not like 'pg_%' and nspname <> 'information_schema'`,
  )
  await client.end()
  return Number(rows[0].bytes)
}

/** Lengths of all files below a folder: what is reserved for them is no part of it. */
export function bytesOfFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((sum, entry) => sum + (entry?.isFile() ? entry.size : 0), 0)
}
