import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { connectTo } from '@pawl/core/storage'
import { type PostgresOptions, postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import type { StorePlace } from './store-place.ts'

/** The role the store works with in tests: it may do what docs/guides/postgres.md lists, and nothing else. */
const role = 'pawl_app'

/** Whether the tests have a server that is not theirs to stop. */
export const isServerGiven: boolean = Boolean(process.env['TEST_POSTGRES_URL'])

/** An empty database of its own, migrated by its owner. */
export interface TestDatabase {
  /** As the owner of everything. */
  readonly ownerUrl: string
  /** As the role with the least rights. */
  readonly url: string
  /** A connection of the owner, to look behind the store's back. */
  readonly owner: pg.Pool
  remove(): Promise<void>
}

export interface DatabaseOptions extends PostgresOptions {
  /** Run by the owner after the migration, before anything is granted. */
  readonly prepare?: (owner: pg.Pool) => Promise<void>
  /** Another server than the tests'. */
  readonly server?: string
}

export async function makeDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const { schema = 'pawl', server = inject('postgresUrl') } = options
  const name = `pawl_test_${randomBytes(6).toString('hex')}`
  await runOn(server, `create database ${name}`)
  await runOn(server, `create role ${role} login`).catch(ignoreDuplicate)
  const ownerUrl = changeUrl(server, { database: name })
  await migrate(ownerUrl, schema)
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 3 })
  owner.on('error', () => {})
  await options.prepare?.(owner)
  await owner.query(grants(schema, role))
  return {
    ownerUrl,
    url: changeUrl(ownerUrl, { user: role }),
    owner,
    async remove() {
      await owner.end()
      await letSessionsEnd(server, name)
      await runOn(server, `drop database ${name} with (force)`)
    },
  }
}

/**
 * Places for the tests of one file, which follow one another: one database, emptied after each of them, and one pool,
 * because new connections cost more than the tests do.
 */
export function makePostgresPlaces(): () => Promise<StorePlace> {
  let database: TestDatabase
  let pool: pg.Pool
  beforeAll(async () => {
    database = await makeDatabase()
    pool = new pg.Pool({ connectionString: database.url, max: 30 })
    pool.on('error', () => {})
  })
  afterAll(async () => {
    await pool.end()
    await database.remove()
  })
  return async () => ({ store: postgres({ pool }), remove: () => empty(database.owner, 'pawl') })
}

/** A client that is told by the server that its session was ended, while it is ending it itself, throws that at nobody. */
async function letSessionsEnd(server: string, database: string): Promise<void> {
  for (let looks = 0; looks < 100; looks++) {
    const { rows } = await runOn(server, `select from pg_stat_activity where datname = '${database}'`)
    if (rows.length === 0) return
    await wait(10)
  }
}

/** Deletes all rows: faster than a new database, and no test can see the difference. */
export async function empty(owner: pg.Pool, schema: string): Promise<void> {
  const tables = [
    'workers',
    'runs',
    'run_info',
    'events',
    'messages',
    'asks',
    'ask_to',
    'run_state',
    'news',
    'feed',
    'decisions',
    'checkpoints',
    'notices',
    'notice_to',
    'notice_reads',
  ]
  await owner.query(tables.map((table) => `delete from ${schema}.${table}`).join(';'))
}

async function migrate(url: string, schema: string): Promise<void> {
  const port = connectTo(postgres(url, { schema }))
  await port?.open()
  await port?.close()
}

/** What docs/guides/postgres.md tells to grant. */
export function grants(schema: string, to: string): string {
  return readGuide('grant usage').replaceAll('"pawl"', `"${schema}"`).replaceAll('to app;', `to ${to};`)
}

/** The statements of docs/guides/postgres.md that begin like this: what the guide says is what is tested. */
export function readGuide(start: string): string {
  const guide = readFileSync(new URL('../../docs/guides/postgres.md', import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/```sql\n(.*?)```/gs)].map(([, block]) => block ?? '')
  const block = blocks.find((block) => block.startsWith(start))
  if (block === undefined)
    throw new Error(`docs/guides/postgres.md has no statements that begin with ${start}`)
  return block
}

export function changeUrl(
  url: string,
  { database, user, port }: { database?: string; user?: string; port?: number },
): string {
  const changed = new URL(url)
  if (database !== undefined) changed.pathname = `/${database}`
  if (port !== undefined) changed.port = String(port)
  if (user !== undefined) {
    changed.username = user
    changed.password = ''
  }
  return changed.href
}

export async function runOn(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

function ignoreDuplicate(error: unknown): void {
  const { code } = error as { readonly code?: string }
  if (code !== '42710' && code !== '23505') throw error
}
