// Sends webhooks until it is killed. Arguments: a SQLite file. support/kill/sabotage.ts says what else it can be told.
import { writeSync } from 'node:fs'
import { createEngine, procedure } from '@pawl/core'
import { createServer, webhooks } from '@pawl/server'
import { sqlite } from '@pawl/storage-sqlite'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'

// The process that started it is gone.
process.stdin.once('end', () => process.exit()).resume()
sabotageSqlite(readSabotage())

const [, , file = ''] = process.argv
const hooks = webhooks({ keys: ['k'.repeat(32)], allowPrivate: true })
const work = procedure({ name: 'work' }, (ctx) => ctx.step('work', () => {}))
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const engine = await createEngine({
  store: sqlite(file),
  procedures: [work, ...hooks.procedures],
  lease: '1s',
  logger: silent,
})
createServer({ client: engine, hooks, logger: silent })
writeSync(1, 'ready\n')
