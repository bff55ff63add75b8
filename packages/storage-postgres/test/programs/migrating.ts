import { connectTo } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { readSabotage, Writes } from '../../../../test/support/kill/sabotage.ts'

// Opens a store, and so migrates it: `migrating <url>`. KILL_AT says around which of its statements it kills itself;
// TRANSACTION=off has each statement stand alone, for the control of the test.
interface Config {
  readonly text: string
  readonly submit?: unknown
}
const prototype = pg.Client.prototype as unknown as { query: (config: Config) => Promise<unknown> }
const { query } = prototype
const statements = new Writes(readSabotage())
prototype.query = function (config) {
  // Statements that were prepared belong to no migration.
  if (config.submit !== undefined) return query.call(this, config)
  const pass = statements.begin()
  const isAlone = process.env['TRANSACTION'] === 'off' && /^(begin|commit)$/.test(config.text)
  const reply = query.call(this, isAlone ? { ...config, text: 'select' } : config)
  pass('sent')
  return reply.then((result) => {
    pass('after')
    return result
  })
}

const port = connectTo(postgres(process.argv[2] ?? ''))
await port?.open()
await port?.close()
process.exit(7)
