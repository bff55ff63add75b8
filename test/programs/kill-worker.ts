// A worker that others kill. Arguments: where runs are kept, ledger, lease. STEP_MS makes its steps take
// longer; GATE is a file that they wait for, and that it makes itself when it is told to stop.
// support/kill/sabotage.ts says what else it can be told.
import { writeSync } from 'node:fs'
import { createEngine } from '@pawl/core'
import { makeRelease } from '../support/kill/consent/release.ts'
import { openStore } from '../support/kill/open-store.ts'
import { makeOrder, openGate } from '../support/kill/order.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'
import { makeTrip } from '../support/kill/trip/trip.ts'

// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume()

const [, , location = '', ledger = '', lease = '1s'] = process.argv
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const { STEP_MS = '0', GATE: gate } = process.env
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const engine = await createEngine({
  store: openStore(location),
  procedures: [makeOrder(ledger, { stepMs: Number(STEP_MS), gate }), makeTrip(ledger), makeRelease(ledger)],
  lease: lease as '1s',
  // The kills come from outside: on a busy machine several may hit a run before it has written anything.
  maxCrashes: 10_000,
  logger: silent,
})
writeSync(1, 'ready\n')
process.once('SIGTERM', () => {
  void engine.stop().then(() => process.exit(0))
  if (gate !== undefined) openGate(gate)
})
