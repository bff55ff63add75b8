import { postgres } from '@pawl/storage-postgres'
import { expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { makeDatabase } from '../../../test/support/postgres-database.ts'
import { workThroughCrashes } from './support/crashing-server.ts'
import { open } from './support/units.ts'

const crashes = Number(process.env['CRASHES'] ?? 1_000)

test(`${crashes} crashes of the server lose, repeat and invent nothing`, async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  // The ledger is compared now and then, and a new store begins from what is there.
  for (let done = 0; done < crashes; done += 50) {
    const port = await open(postgres(database.url))
    const report = await workThroughCrashes({ server, port, crashes: Math.min(50, crashes - done) })
    console.log({ crashes: done + 50, reclaimed: report.reclaimed, events: report.ledger.count })
    expect(await report.ledger.compare(database.owner)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
    await port.close()
    await database.owner.query(
      'truncate pawl.runs, pawl.run_info, pawl.events, pawl.messages, pawl.asks, pawl.ask_to, pawl.news, pawl.feed, pawl.workers',
    )
  }
  await database.remove()
  await server.remove()
})
