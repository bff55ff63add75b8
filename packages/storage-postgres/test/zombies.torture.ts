import { expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { makeDatabase } from '../../../test/support/postgres-database.ts'
import { letZombiesWork } from './support/zombies.ts'

const stops = Number(process.env['STOPS'] ?? 1_000)

test(`${stops} stops past the lease leave no stale event`, async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  for (let done = 0; done < stops; done += 100) {
    const report = await letZombiesWork({ database, isGuarded: true, stops: Math.min(100, stops - done) })
    console.log(report)
    expect(report).toMatchObject({ stale: 0, lost: 0, resubmitted: 0, gaps: 0 })
  }
  await database.remove()
  await server.remove()
})
