// Runs that come and are deleted, again and again, on PostgreSQL: whether its tables stay as large.  npm run bench -- deletions
// RUNS=1000 fills it with fewer than 10,000 runs.
import { createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { costOf } from './base/clock.ts'
import { postgresPlaces } from './places/places.ts'
import type { PartFigure } from './report/session.ts'

const runs = Number(process.env['RUNS'] ?? 10_000)
const gone = runs * 0.95
const rounds = 4
/** How many runs are started, or deleted, at once. */
const atOnce = 100

const short = procedure({ name: 'short' }, async (ctx) => {
  for (let n = 0; n < 10; n++) await ctx.step('step', () => 'x'.repeat(100))
})

export default async function run(): Promise<readonly PartFigure[]> {
  const places = await postgresPlaces(process.env['BENCH_FOLDER'])
  const address = await places.make()
  if (address.kind !== 'postgres') throw new Error('This measures PostgreSQL.')
  const engine = await createEngine({ store: postgres(address.url), procedures: [short] })
  const client = new pg.Client({ connectionString: address.url })
  await client.connect()
  const figures: PartFigure[] = []
  try {
    for (let round = 1; round <= rounds; round++) {
      const id = (n: number) => `${round}:${n}`
      await inGroups(runs, async (n) => {
        const handle = await engine.run(short, undefined, { id: id(n) })
        await handle.result()
      })
      const full = await measure(client)
      const { ms, cpuMs } = await costOf(() => inGroups(gone, (n) => engine.delete(id(n))))
      await vacuumed(client)
      const after = await measure(client)
      console.log(
        `round ${round}: ${tell(full)} with all runs; ${Math.round((gone * 1e3) / ms)} deletions a second; ` +
          `${tell(after)} after autovacuum, with ${runs - gone} runs more than before`,
      )
      figures.push({
        ...{ what: `deletion, round ${round}`, aim: null },
        ...{ nsPerEvent: (ms * 1e6) / gone, cpuNsPerEvent: (cpuMs * 1e6) / gone },
      })
    }
  } finally {
    await client.end()
    await engine.stop()
    await places.remove()
  }
  return figures
}

async function inGroups(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => work(from + n)))
}

interface Size {
  readonly tables: number
  readonly indexes: number
  readonly dead: number
}

async function measure(client: pg.Client): Promise<Size> {
  const { rows } = await client.query<Size>(
    `select sum(pg_table_size(relid))::float8 as tables, sum(pg_indexes_size(relid))::float8 as indexes, sum(n_dead_tup)::float8 as dead
     from pg_stat_user_tables where schemaname = 'pawl'`,
  )
  return rows[0] as Size
}

function tell({ tables, indexes }: Size): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
  return `${megabytes(tables)} MB of tables and ${megabytes(indexes)} MB of indexes`
}

/** Waits until autovacuum, with the settings that PostgreSQL comes with, has been at what was deleted. */
async function vacuumed(client: pg.Client): Promise<void> {
  while ((await measure(client)).dead > runs) await new Promise((resolve) => setTimeout(resolve, 1_000))
}
