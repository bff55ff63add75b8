import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import type { Address } from './place.ts'

/** Where the databases of one measurement are made, one for each. */
export interface Places {
  readonly kind: Address['kind']
  make(): Promise<Address>
  remove(): Promise<void>
}

/** Files in a folder of their own; BENCH_FOLDER says on which disk. */
export function sqlitePlaces(): Places {
  const folder = mkdtempSync(join(process.env['BENCH_FOLDER'] ?? tmpdir(), 'pawl-bench-'))
  let count = 0
  return {
    kind: 'sqlite',
    make: async () => ({ kind: 'sqlite', file: join(folder, `${count++}.db`) }),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** A PostgreSQL 18 of its own, as it comes: fsync, synchronous_commit and full_page_writes are on. */
export async function postgresPlaces(): Promise<Places> {
  const server = await PostgresServer.start({
    version: 18,
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', shared_buffers: '128MB' },
  })
  let count = 0
  return {
    kind: 'postgres',
    async make() {
      const database = `bench_${count++}`
      const client = new pg.Client({ connectionString: server.url() })
      await client.connect()
      // What is left to write of the measurement before is none of the next one's business.
      await client.query('checkpoint')
      await client.query(`create database ${database}`)
      await client.end()
      return { kind: 'postgres', url: server.url(database) }
    },
    remove: () => server.remove(),
  }
}
