import { postgres } from '@pawl/storage-postgres'
import { expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { makeDatabase } from '../../../test/support/postgres-database.ts'
import { sendWhileParking } from './support/wakeups.ts'

const messages = Number(process.env['MESSAGES'] ?? 120_000)

test(`${messages} messages that meet runs being parked wake them`, async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  const store = () => postgres(database.url, { notifications: false })
  const report = await sendWhileParking({ database, store, messages, runs: 200 })
  console.log(report)
  expect(report.stranded).toBe(0)
  await database.remove()
  await server.remove()
})
