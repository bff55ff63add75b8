// Sends webhooks until it is killed. Argument: where runs are kept. support/kill/sabotage.ts says what else it can be told.
import { writeSync } from 'node:fs'
import { createEngine, procedure } from '@pawl/core'
import { createServer, webhooks } from '@pawl/server'
import { openStore } from '../support/kill/open-store.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'

// The process that started it is gone.
process.stdin.once('end', () => process.exit()).resume()
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const [, , location = ''] = process.argv
const hooks = webhooks({ keys: ['k'.repeat(32)], allowPrivate: true })
const work = procedure({ name: 'work' }, (ctx) => ctx.step('work', () => {}))
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const engine = await createEngine({
  store: openStore(location),
  procedures: [work],
  plugins: [hooks],
  lease: '1s',
  logger: silent,
})
createServer({ client: engine, hooks, logger: silent })
writeSync(1, 'ready\n')
