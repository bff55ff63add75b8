import { expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { makeDatabase } from '../../../test/support/postgres-database.ts'
import { withoutTargetLocks, writeBothWays } from './support/two-way.ts'

const units = Number(process.env['UNITS'] ?? 20_000)

test(`${units} units that write to each other do not deadlock, and do without the locks of targets`, async () => {
  const server = await PostgresServer.start()
  for (const rewrite of [undefined, withoutTargetLocks]) {
    const database = await makeDatabase({ server: server.url() })
    const options = { database, units, isControl: rewrite !== undefined }
    const report = await writeBothWays(rewrite === undefined ? options : { ...options, rewrite })
    console.log(rewrite === undefined ? 'with' : 'without', report)
    if (rewrite === undefined)
      expect(report).toMatchObject({ deadlocks: 0, missing: 0, twice: 0, misfits: 0, heard: report.ends })
    else expect(report.deadlocks).toBeGreaterThan(0)
    await database.remove()
  }
  await server.remove()
})
