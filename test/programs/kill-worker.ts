// A worker that others kill. Arguments: database, ledger, lease. KILL_AT=<n>:<before|after> makes it kill
// itself around its n-th transaction; FENCE=off takes the fence out of the store, for the control.
import { writeSync } from 'node:fs'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import Database from 'better-sqlite3'
import { makeOrder } from '../support/kill/order.ts'

const [, , file = '', ledger = '', lease = '1s'] = process.argv
const [killAt, killWhen] = (process.env['KILL_AT'] ?? '').split(':')

const prepare = Database.prototype.prepare
let transactions = 0
Database.prototype.prepare = function (this: Database.Database, sql: string) {
  if (process.env['FENCE'] === 'off')
    sql = sql.replace(/where run = \? and epoch = \? and head = \? and worker = \?/, 'where run = ? and ? > 0 and head = ? and ? > 0')
  const statement = prepare.call(this, sql)
  if (sql !== 'commit' || killAt === undefined || killAt === '') return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    const isLast = ++transactions === Number(killAt)
    if (isLast && killWhen === 'before') process.kill(process.pid, 'SIGKILL')
    const result = run()
    if (isLast) process.kill(process.pid, 'SIGKILL')
    return result
  }
  return statement
} as typeof prepare

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const engine = await createEngine({ store: sqlite(file), procedures: [makeOrder(ledger)], lease: lease as '1s', logger: silent })
writeSync(1, 'ready\n')
process.once('SIGTERM', () => void engine.stop().then(() => process.exit(0)))
