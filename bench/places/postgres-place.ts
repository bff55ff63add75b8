import type { Store } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import type { Place, RawTable } from './place.ts'

export class PostgresPlace implements Place {
  readonly kind = 'postgres'
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  store(): Store {
    return postgres(this.#url)
  }

  async openRaw(): Promise<RawTable> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    await client.query(
      'create table if not exists raw (run text, seq int, data bytea, primary key (run, seq))',
    )
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from raw')
    let seq = rows[0]?.count ?? 0
    return {
      async write(count, payload = Buffer.from('{"n":1}')) {
        for (let i = 0; i < count; i++)
          await client.query({
            name: 'raw',
            text: 'insert into raw values ($1, $2, $3)',
            values: ['run', seq++, payload],
          })
      },
      close: () => client.end(),
    }
  }

  record(work: (place: Pick<Place, 'store'>) => Promise<void>): Promise<void> {
    return work(this)
  }

  async diskBytes(): Promise<number> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    const { rows } = await client.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = 'pawl'::regnamespace`,
    )
    await client.end()
    return Number(rows[0]?.bytes)
  }

  async fileBytes(): Promise<{ readonly database: number; readonly wal: number }> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    const { rows } = await client.query<{ database: string; wal: string }>(
      'select pg_database_size(current_database()) as database, (select sum(size) from pg_ls_waldir()) as wal',
    )
    await client.end()
    return { database: Number(rows[0]?.database), wal: Number(rows[0]?.wal) }
  }

  async close(): Promise<void> {}
}
