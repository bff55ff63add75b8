// A worker that others kill. Arguments: where runs are kept, ledger, lease. STEP_MS makes its steps take
// longer; support/kill/sabotage.ts says what else it can be told.
import { writeSync } from 'node:fs'
import { createEngine } from '@pawl/core'
import { openStore } from '../support/kill/open-store.ts'
import { makeOrder } from '../support/kill/order.ts'
import { ruler } from '../support/kill/ruler.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'

// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume()

const [, , location = '', ledger = '', lease = '1s'] = process.argv
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const engine = await createEngine({
  store: openStore(location),
  procedures: [makeOrder(ledger, Number(process.env['STEP_MS'] ?? 0)), ruler],
  lease: lease as '1s',
  logger: silent,
})
writeSync(1, 'ready\n')
process.once('SIGTERM', () => void engine.stop().then(() => process.exit(0)))
