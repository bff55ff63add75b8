import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import type { Address, SqliteDriver } from './place.ts'

/** Where the databases of one measurement are made, one for each. */
export interface Places {
  readonly kind: Address['kind']
  /** The first process of the database server. */
  readonly server?: number | undefined
  make(): Promise<Address>
  /** Deletes one database. Nothing may be connected to it. */
  drop(address: Address): Promise<void>
  /** Deletes everything. */
  remove(): Promise<void>
}

/** Files in a folder of their own; BENCH_FOLDER says on which disk. */
export function sqlitePlaces(
  parent: string = process.env['BENCH_FOLDER'] ?? tmpdir(),
  driver?: SqliteDriver,
): Places {
  const folder = mkdtempSync(join(parent, 'pawl-bench-'))
  let count = 0
  return {
    kind: 'sqlite',
    make: async () => ({ kind: 'sqlite', file: join(folder, `${count++}.db`), driver }),
    async drop(address) {
      if (address.kind !== 'sqlite') return
      for (const suffix of ['', '-wal', '-shm', '.raw.db', '.raw.db-wal', '.raw.db-shm'])
        rmSync(`${address.file}${suffix}`, { force: true })
    },
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** A PostgreSQL 18 of its own, as it comes: fsync, synchronous_commit and full_page_writes are on. */
export async function postgresPlaces(folder: string = tmpdir()): Promise<Places> {
  const server = await PostgresServer.start({
    version: 18,
    folder,
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', shared_buffers: '128MB' },
  })
  let count = 0
  const order = async (...statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url() })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  return {
    kind: 'postgres',
    server: server.pid,
    async make() {
      const database = `bench_${count++}`
      // What is left to write of the measurement before is none of the next one's business.
      await order('checkpoint', `create database ${database}`)
      return { kind: 'postgres', url: server.url(database) }
    },
    async drop(address) {
      if (address.kind !== 'postgres') return
      await order(`drop database ${new URL(address.url).pathname.slice(1)} with (force)`)
    },
    remove: () => server.remove(),
  }
}
