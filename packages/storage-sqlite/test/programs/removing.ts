// Removes run 'a' and clears it, and kills itself before its write number <n>: `removing <file> <mutation> <n>`.
import { rawConnections } from '../../../../test/support/sqlite.ts'
import type { Statement } from '../../src/connection/database.ts'
import { type Mutation, makeMutant } from '../support/mutants.ts'

const [, , file = '', mutation = 'nothing', n = ''] = process.argv
let left = Number.POSITIVE_INFINITY
const prepare = rawConnections.prepare as (sql: string) => Statement
rawConnections.prepare = function (this: typeof rawConnections, sql: string) {
  const statement = prepare.call(this, sql)
  const run = statement.run.bind(statement)
  statement.run = (...parameters) => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
    return run(...parameters)
  }
  return statement
} as typeof rawConnections.prepare

const store = makeMutant(file, mutation as Mutation)
await store.open()
const row = await store.runs.find('a')
left = Number(n)
await store.removals.remove([row?.run ?? 0])
while (await store.removals.clear(5));
left = Number.POSITIVE_INFINITY
console.log('done')
await store.close()
