// absurd on PostgreSQL, as its documentation sets it up: one queue, a worker in the process, default polling;
// for latency also with the interval of polling that its documentation offers.
import { readFileSync } from 'node:fs'
import { Absurd } from 'absurd-sdk'
import pg from 'pg'
import { add } from './arithmetic.mjs'
import { bytesOfTables } from './disk.mjs'

export const about = {
  title: 'absurd',
  package: 'absurd-sdk',
  settings: 'PostgreSQL; up to 200 runs at once in the worker, default polling (250 ms) and lease (120 s)',
  onKill: 'every reported step',
  onPowerLoss: 'every reported step: a commit for each, fsync on',
}

/** What is set otherwise where latency counts most. */
export const eager = 'polling every 10 ms'
const eagerSettings = { pollInterval: 0.01 }

export async function open({ url }, { onStep, onWait, onEnd }, isEager) {
  await initialise(url)
  const quiet = { log() {}, info() {}, warn: console.warn, error: console.error }
  const app = new Absurd({ db: url, log: quiet })
  await app.createQueue()
  app.registerTask({ name: 'sequence' }, async ({ id, steps, waits }, ctx) => {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += await ctx.step('step', async () => onStep(i))
    if (waits) {
      onWait(id)
      sum += await ctx.awaitEvent(`go ${id}`)
    }
    return onEnd(id, sum)
  })
  app.registerTask({ name: 'fan' }, async ({ id, steps }, ctx) => {
    const begin = (_, i) => ctx.step('step', async () => onStep(i))
    const all = await Promise.all(Array.from({ length: steps }, begin))
    return onEnd(id, all.reduce(add))
  })
  await app.startWorker({ concurrency: 200, ...(isEager ? eagerSettings : {}) })

  return {
    async start(name, id, steps, waits = false) {
      const { taskID } = await app.spawn(name, { id, steps, waits })
      return async () => {
        const snapshot = await app.awaitTaskResult(taskID)
        if (snapshot.state !== 'completed') throw new Error(`the task has ${snapshot.state}`)
        return snapshot.result
      }
    },
    signal: (id, value) => app.emitEvent(`go ${id}`, value),
    diskBytes: () => bytesOfTables(url),
  }
}

/** What its SDK calls and a copy of its schema that was cut short would not have. */
const expected = ['cancel_task', 'extend_claim', 'retry_task', 'schedule_run']

/** Its schema is not in its package: `absurdctl init` makes it, or its release's absurd.sql. */
async function initialise(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query("select to_regnamespace('absurd') is not null as made")
    if (!rows[0].made) await client.query(readSchema())
    const missing = await client.query(
      "select name from unnest($1::text[]) as name where to_regproc('absurd.' || name) is null",
      [expected],
    )
    if (missing.rows.length > 0)
      about.limit = `its schema here is only a part of its release's, without ${missing.rows.map(({ name }) => name).join(', ')}, which nothing here calls`
  } finally {
    await client.end()
  }
}

function readSchema() {
  const file = process.env.BENCH_ABSURD_SQL
  if (!file)
    throw new Error(
      'its schema is not in its npm package: get sql/absurd.sql of the same release from https://github.com/earendil-works/absurd and set BENCH_ABSURD_SQL to the path of that file',
    )
  return readFileSync(file, 'utf8')
}
